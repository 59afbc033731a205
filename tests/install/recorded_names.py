#!/usr/bin/env python3
"""Checks which library exports what, and which names programs record that are linked with --as-needed.

Usage: recorded_names.py PREFIX (the environment's CC is the compiler)

What a program records must be where an NPU host has the functions: so programs are linked here and started with libraries
that export what is written below, one function in one library, and nothing else.
SPDX-License-Identifier: Apache-2.0
"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

CC = os.environ.get("CC", "gcc")
# Some functions of every kind, and the libraries of CANN that export them.
EXPORTED_BY = {
    "aclInit": "acl_rt ascendcl",
    "aclGetRecentErrMsg": "acl_rt ascendcl",
    "aclrtMalloc": "acl_rt ascendcl",
    "aclrtGetSysParamOpt": "acl_rt ascendcl",
    "aclDataTypeSize": "acl_rt ascendcl",
    "aclCreateDataBuffer": "acl_rt ascendcl",
    "aclsysGetVersionStr": "acl_rt ascendcl",
    "aclmdlRICaptureBegin": "acl_rt ascendcl",
    "aclrtBinaryLoadFromData": "acl_rt ascendcl",
    "aclmdlInitDump": "ascendcl",
    "aclopStartDumpArgs": "ascendcl",
    "acltdtReceiveTensor": "acl_tdt_channel",
    "strcpy_s": "fmk_parser",
    "mmGetTid": "platform",
    "aclCreateTensorDesc": "ascendcl",
    "aclopCreateAttr": "ascendcl",
    "aclopCompileAndExecute": "acl_op_compiler",
    "aclSetCompileopt": "acl_op_compiler",
    "aclprofInit": "msprofiler",
    "rtKernelLaunch": "runtime",
    "HcclSetConfig": "hccl",
    "HcclAllReduce": "hccl",
    "HcclGetRootInfo": "hccl",
    "HcclGroupStart": "hcomm",
    "MsprofReportApi": "",
    "aclCreateTensor": "nnopbase",
    "aclDestroyAclOpExecutor": "nnopbase",
    "AclSetTensorAddr": "nnopbase",
    "aclnnInit": "nnopbase",
    "InitHugeMemThreadLocal": "nnopbase",
    "aclnnL1Loss": "opapi opapi_nn",
    "aclnnMseLossBackwardGetWorkspaceSize": "opapi opapi_nn",
    "aclnnKlDiv": "opapi opapi_math",
    "aclnnKlDivGetWorkspaceSize": "opapi opapi_math",
}
EMPTY = [
    *("ascend_dump", "ascend_protobuf", "ascendalog", "c_sec", "error_manager", "ge_common_base", "ge_runner", "graph"),
    *("mmpa", "profapi", "register", "unified_dlog"),
]
# Programs: what they call, and the libraries of their link line, which is tried in every order.
PROGRAMS = [
    (["aclInit", "aclCreateTensor", "aclnnL1Loss", "aclnnKlDiv"], "opapi_nn opapi_math ascendcl nnopbase opapi"),
    (["aclInit", "aclrtMalloc"], "opapi_nn opapi_math ascendcl nnopbase"),
    (["aclInit", "aclCreateTensor", "aclnnKlDiv"], "opapi_nn opapi_math acl_rt nnopbase"),
    (["aclInit", "aclCreateTensorDesc", "aclopCompileAndExecute"], "acl_op_compiler ascendcl graph ge_runner hccl"),
    (["aclInit", "HcclGetRootInfo", "HcclAllReduce", "HcclGroupStart"], "hccl hcomm ascendcl"),
]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **options).stdout


def exported(library):
    lines = run("nm", "-D", "--defined-only", "--format=posix", library).splitlines()
    return {line.split()[0].split("@")[0] for line in lines if line.split()[1] != "A"}


def needed(program):
    lines = [line for line in run("readelf", "-d", program).splitlines() if "(NEEDED)" in line]
    return [line.split("[lib")[1].split(".so")[0] for line in lines]


def shared_library(path, functions):
    source = "typedef int NotEmpty;\n" + "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
    run(CC, "-shared", "-fPIC", "-x", "c", "-", "-o", path, "-Wl,-soname," + path.name, input=source)


def program_object(folder, functions):
    source = folder / "program.c"
    calls = "".join(f"extern int {name}(void); " for name in functions)
    pointers = ", ".join(f"(int (*)(void)){name}" for name in functions)
    source.write_text(f"{calls}\nint (*volatile used[])(void) = {{{pointers}}};\nint main(void) {{ return used[0] == 0; }}\n")
    run(CC, "-fPIE", "-c", source, "-o", source.with_suffix(".o"))
    return source.with_suffix(".o")


def main():
    libraries = pathlib.Path(sys.argv[1], "lib64").resolve()
    faults = []
    everywhere = {path.name[3:-3]: exported(path) for path in libraries.glob("lib*.so") if path.name != "libportacl.so"}
    for function, names in EXPORTED_BY.items():
        found = sorted(name for name, functions in everywhere.items() if function in functions)
        if found != names.split():
            faults.append(f"{function} is exported by {' '.join(found) or 'none'}, not by {names or 'none'}")
    faults += [f"lib{name}.so exports {' '.join(everywhere[name])}" for name in EMPTY if everywhere[name]]

    tried = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        host = folder / "host"
        host.mkdir()
        names = {name for names in EXPORTED_BY.values() for name in names.split()} | set(EMPTY)
        for name in names:
            shared_library(host / f"lib{name}.so", [f for f, where in EXPORTED_BY.items() if name in where.split()])
        for functions, line in PROGRAMS:
            code = program_object(folder, functions)
            started = set()
            for order in itertools.permutations(line.split()):
                missing, expected = set(functions), []
                for name in order:
                    provided = {f for f in missing if name in EXPORTED_BY[f].split()}
                    if provided:
                        expected.append(name)
                    missing -= provided
                options = [f"-l{name}" for name in order]
                run(CC, code, "-o", folder / "program", "-L", libraries, "-Wl,--as-needed", *options)
                tried += 1
                recorded = [name for name in needed(folder / "program") if name in names]
                if recorded != expected:
                    faults.append(f"{' '.join(options)}: records {' '.join(recorded)}, not {' '.join(expected)}")
                if tuple(recorded) in started:
                    continue
                started.add(tuple(recorded))
                for place in (libraries, host):
                    environment = {**os.environ, "LD_LIBRARY_PATH": str(place), "LD_BIND_NOW": "1"}
                    done = subprocess.run([folder / "program"], env=environment, capture_output=True, text=True, check=False)
                    if done.returncode != 0:
                        faults.append(f"{' '.join(options)}: does not start with {place}: {done.stderr}")
    print("\n".join(faults))
    print(f"{len(EXPORTED_BY)} functions in {len(everywhere)} libraries, {tried} link lines")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
