#!/usr/bin/env python3
"""What tools/check_layers.py finds in small trees: nothing, or the include that breaks the order.

Usage: check_layers_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, sys.argv.pop(1))
import check_layers  # noqa: E402

IN_ORDER = {
    "base/process/fork.h": [],
    "base/log.h": ["base/process/fork.h"],
    "acl/queue/stream.h": ["base/log.h"],
    "acl/queue/stream.cc": ["acl/queue/stream.h", "acl/acl_rt.h"],
    "acl/device/device.cc": ["acl/queue/stream.h"],
    "aclnn/executor.h": ["acl/queue/stream.h", "engine/job.h"],
    "engine/job.h": [],
    "engine/loop-inl.h": ["engine/job.h"],
    "engine/loop.cc": ["engine/loop-inl.h"],
}


class CheckLayers(unittest.TestCase):
    def faults(self, changes, heads=None, operators=()):
        """What is found in the tree that is in order, with some files changed; paths as they are below src/. What `heads` has comes before
        what a file includes."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {f"src/{name}": includes for name, includes in (IN_ORDER | changes).items()}
            for name, includes in ({"include/acl/acl_rt.h": []} | files).items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("".join(f'#include "{include}"\n' for include in includes))
            for name, head in (heads or {}).items():
                path = root / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{head}\n{path.read_text() if path.exists() else ''}")
            names = check_layers.names_of([types.SimpleNamespace(functions=[types.SimpleNamespace(name=name) for name in operators])])
            with unittest.mock.patch.object(check_layers, "names_of", lambda _: names):
                return [fault.replace(f"{root}/src/", "") for fault in check_layers.faults_of(root)]

    def test_in_order(self):
        self.assertEqual(self.faults({}), [])

    def test_a_folder_points_back(self):
        self.assertEqual(self.faults({"base/log.cc": ["aclnn/executor.h"]}),
                         ["base/log.cc: base must not include aclnn/executor.h",
                          "these depend on each other: acl/queue/stream, aclnn/executor, base/log"])

    def test_what_computes_knows_no_handle(self):
        self.assertEqual(self.faults({"engine/loop.cc": ["aclnn/tensor.h"], "aclnn/tensor.h": []}),
                         ["engine/loop.cc: engine must not include aclnn/tensor.h"])
        self.assertEqual(self.faults({"plan/loops.h": ["aclnn/tensor.h"], "aclnn/tensor.h": []}),
                         ["plan/loops.h: plan must not include aclnn/tensor.h"])

    def test_executors_know_the_job_and_no_kind_of_computing(self):
        self.assertEqual(self.faults({"aclnn/executor.h": ["engine/loop-inl.h"]}),
                         ["aclnn/executor.h: aclnn includes of engine engine/job.h alone, not engine/loop-inl.h"])

    def test_a_room_points_back(self):
        self.assertEqual(self.faults({"acl/settings/init.h": ["acl/device/device.h"], "acl/device/device.h": []}),
                         ["acl/settings/init.h: room acl/settings must not include acl/device/device.h"])

    def test_the_lowest_room_uses_none_of_the_others(self):
        self.assertEqual(self.faults({"base/process/descriptor.cc": ["base/text.h"], "base/text.h": []}),
                         ["base/process/descriptor.cc: room base/process must not include base/text.h"])

    def test_a_room_that_nobody_placed(self):
        self.assertEqual(self.faults({"acl/attic/old.h": []}), ["acl/attic/old.h: room acl/attic has no place in the order"])

    def test_a_family_uses_what_is_shared_and_no_other_family(self):
        changes = {"aclnnop/jobs/op_list_run.h": [], "aclnnop/loss/mse.h": [], "aclnnop/phase1.h": [],
                   "aclnnop/norm/norm.cc": ["aclnnop/jobs/op_list_run.h", "aclnnop/phase1.h"]}
        self.assertEqual(self.faults(changes), [])
        changes["aclnnop/norm/norm.cc"] = ["aclnnop/loss/mse.h"]
        self.assertEqual(self.faults(changes), ["aclnnop/norm/norm.cc: family norm must not include aclnnop/loss/mse.h"])
        changes |= {"aclnnop/norm/norm.cc": [], "aclnnop/jobs/op_list_run.h": ["aclnnop/loss/mse.h"]}
        self.assertEqual(self.faults(changes), ["aclnnop/jobs/op_list_run.h: family jobs must not include aclnnop/loss/mse.h"])
        changes |= {"aclnnop/jobs/op_list_run.h": [], "aclnnop/phase1.h": ["aclnnop/jobs/op_list_run.h"]}
        self.assertEqual(self.faults(changes), ["aclnnop/phase1.h: family aclnnop must not include aclnnop/jobs/op_list_run.h"])

    def test_checks_and_what_is_checked_meet_in_the_base(self):
        changes = {"sanitizer/order.h": [], "base/hooks.h": [], "sanitizer/order.cc": ["sanitizer/order.h", "base/hooks.h"],
                   "acl/queue/stream.h": ["base/log.h", "base/hooks.h"]}
        self.assertEqual(self.faults(changes), [])
        changes["acl/queue/stream.h"] = ["sanitizer/order.h"]
        self.assertEqual(self.faults(changes), ["acl/queue/stream.h: acl must not include sanitizer/order.h"])
        changes |= {"acl/queue/stream.h": [], "sanitizer/order.cc": ["acl/queue/stream.h"]}
        self.assertEqual(self.faults(changes), ["sanitizer/order.cc: sanitizer must not include acl/queue/stream.h"])

    def test_no_two_folders_include_each_other(self):
        for folder, used in check_layers.ALLOWED.items():
            for other in used - {folder}:
                self.assertNotIn(folder, check_layers.ALLOWED[other], f"{folder} and {other}")

    def test_a_class_of_an_upper_room(self):
        self.assertEqual(self.faults({}, heads={"acl/queue/stream.h": "class Event;", "acl/stream/event.h": "class Event final : Task {"}),
                         ["acl/queue/stream.h: declares Event, but must not include acl/stream/event.h, which defines it"])
        self.assertEqual(self.faults({}, heads={"acl/queue/stream.h": "class Job;", "engine/loop.cc": "struct Job {"}),
                         ["acl/queue/stream.h: declares Job, but must not include engine/loop.cc, which defines it"])

    def test_a_class_that_may_be_declared(self):
        for here, defines in (("acl/device/device.cc", "acl/queue/stream.h"), ("engine/loop.cc", "engine/loop-inl.h")):
            self.assertEqual(self.faults({}, heads={here: "struct Job;", defines: "struct Job {"}), [])
        # One of that name lies below as well, or is a source's own.
        self.assertEqual(self.faults({}, heads={"acl/queue/stream.h": "class Job;", "base/log.h": "class Job {",
                                                "engine/loop-inl.h": "class Job {"}), [])
        own = "namespace {\n\nclass Job {\n};\n\n}  // namespace"
        self.assertEqual(self.faults({}, heads={"acl/queue/stream.h": "class Job;", "engine/loop.cc": own}), [])

    def test_a_text_that_names_an_operator(self):
        for text in ('"aclnnAbs"', '{"Abs", "Absent"}'):
            self.assertEqual(self.faults({}, heads={"acl/queue/stream.h": f"const char* names[] = {text};"}, operators=["aclnnAbs"]),
                             [f"acl/queue/stream.h: acl must not name the operator {'aclnnAbs' if 'aclnn' in text else 'Abs'}"])
            self.assertEqual(self.faults({"aclnnop/facts.cc": []}, heads={"aclnnop/facts.cc": f"const char* names[] = {text};"},
                                         operators=["aclnnAbs"]), [])
        self.assertEqual(self.faults({}, heads={"acl/queue/stream.h": '// "Abs"\nconst char* name = "Absent";'}, operators=["aclnnAbs"]), [])

    def test_two_files_of_one_name(self):
        self.assertEqual(self.faults({"engine/log.h": []}), ["engine/log.h: base/log.h has the same name"])

    def test_a_circle_of_sources(self):
        changes = {"engine/map/tiles.h": [], "engine/map/tiles.cc": ["engine/map/rows.h"],
                   "engine/map/rows.h": [], "engine/map/rows.cc": ["engine/map/tiles.h"]}
        self.assertEqual(self.faults(changes), ["these depend on each other: engine/map/rows, engine/map/tiles"])

    def test_a_header_that_is_nowhere(self):
        self.assertEqual(self.faults({"base/text.cc": ["base/text.h"]}),
                         ["base/text.cc: includes base/text.h, which is neither in src/ nor in include/"])

    def test_a_head_that_refers_to_a_header(self):
        for header in ("stream.h", "base/log.h", "acl/acl_rt.h"):
            self.assertEqual(self.faults({}, heads={"acl/queue/stream.cc": f"// Streams (see {header})."}), [])
        self.assertEqual(self.faults({}, heads={"acl/queue/stream.cc": "// Streams (see queue.h)."}),
                         ["acl/queue/stream.cc: its head refers to queue.h, which is neither beside it nor in src/ or include/"])


if __name__ == "__main__":
    unittest.main()
