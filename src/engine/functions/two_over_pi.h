// 2^e 2/pi modulo 4 in three parts, for floats from 2^9 on: the factors of the exact reduction of large
// angles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace portacl::engine {

// Row e serves floats m * 2^(e - 14), m a 24-bit integer. The first part is a multiple of 2^-24, the second
// one of 2^-50. Both have at most 26 bits, so that m times either is exact. The third part is the rest,
// rounded.
constexpr int32_t kTwoOverPiFirstExponent = 136;  // as a float's exponent field
constexpr size_t kTwoOverPiRows = 119;
alignas(64) inline constexpr double kTwoOverPi[3][kTwoOverPiRows] = {
    {0x1.458p-15,    0x1.45cp-14,    0x1.45ep-13,    0x1.45fp-12,    0x1.45fp-11,    0x1.45fp-10,
     0x1.45f2p-9,    0x1.45f3p-8,    0x1.45f3p-7,    0x1.45f3p-6,    0x1.45f3p-5,    0x1.45f3p-4,
     0x1.45f3p-3,    0x1.45f304p-2,  0x1.45f306p-1,  0x1.45f306p+0,  0x1.45f3068p+1, 0x1.17cc1bp+0,
     0x1.17cc1bp+1,  0x1.7cc1b4p-2,  0x1.7cc1b6p-1,  0x1.7cc1b7p+0,  0x1.7cc1b7p+1,  0x1.f306dcp+0,
     0x1.f306dc8p+1, 0x1.e60db9p+1,  0x1.cc1b72p+1,  0x1.9836e48p+1, 0x1.306dc98p+1, 0x1.836e4ep-1,
     0x1.836e4ep+0,  0x1.836e4ep+1,  0x1.06dc9c8p+1, 0x1.b7272p-4,   0x1.b7272p-3,   0x1.b7272p-2,
     0x1.b72722p-1,  0x1.b72722p+0,  0x1.b72722p+1,  0x1.6e4e44p+1,  0x1.b9391p+0,   0x1.b9391p+1,
     0x1.7272208p+1, 0x1.c9c882p+0,  0x1.c9c8828p+1, 0x1.939105p+1,  0x1.27220a8p+1, 0x1.391054p-1,
     0x1.391054p+0,  0x1.3910548p+1, 0x1.c882a4p-1,  0x1.c882a5p+0,  0x1.c882a5p+1,  0x1.91054ap+1,
     0x1.220a948p+1, 0x1.1054a6p-1,  0x1.1054a7p+0,  0x1.1054a78p+1, 0x1.054a7cp-2,  0x1.054a7ep-1,
     0x1.054a7fp+0,  0x1.054a7fp+1,  0x1.529fcp-4,   0x1.529fcp-3,   0x1.529fcp-2,   0x1.529fc2p-1,
     0x1.529fc2p+0,  0x1.529fc2p+1,  0x1.4a7f09p+0,  0x1.4a7f098p+1, 0x1.29fc27p+0,  0x1.29fc27p+1,
     0x1.4fe13ap-1,  0x1.4fe13ap+0,  0x1.4fe13a8p+1, 0x1.3f84eap+0,  0x1.3f84ea8p+1, 0x1.fc2756p-1,
     0x1.fc2757p+0,  0x1.fc27578p+1, 0x1.f84eaf8p+1, 0x1.f09d5fp+1,  0x1.e13abe8p+1, 0x1.c2757dp+1,
     0x1.84eafap+1,  0x1.09d5f4p+1,  0x1.3abe88p-3,  0x1.3abe8cp-2,  0x1.3abe8ep-1,  0x1.3abe8fp+0,
     0x1.3abe8f8p+1, 0x1.d5f47cp-1,  0x1.d5f47dp+0,  0x1.d5f47dp+1,  0x1.abe8fa8p+1, 0x1.57d1f5p+1,
     0x1.5f47d4p+0,  0x1.5f47d48p+1, 0x1.7d1f53p+0,  0x1.7d1f53p+1,  0x1.f47d4dp+0,  0x1.f47d4dp+1,
     0x1.e8fa9ap+1,  0x1.d1f5348p+1, 0x1.a3ea698p+1, 0x1.47d4d3p+1,  0x1.1f534dp+0,  0x1.1f534d8p+1,
     0x1.f534dcp-2,  0x1.f534dcp-1,  0x1.f534ddp+0,  0x1.f534dd8p+1, 0x1.ea69bb8p+1, 0x1.d4d377p+1,
     0x1.a9a6eep+1,  0x1.534ddcp+1,  0x1.4d377p+0,   0x1.4d377p+1,   0x1.34ddcp+0},
    {0x1.cc1b72p-25,  0x1.9836e48p-25, 0x1.306dc98p-25, 0x1.836e4ep-27,  0x1.836e4ep-26,  0x1.836e4ep-25,
     0x1.06dc9c8p-25, 0x1.b7272p-30,   0x1.b7272p-29,   0x1.b7272p-28,   0x1.b72722p-27,  0x1.b72722p-26,
     0x1.b72722p-25,  0x1.6e4e44p-25,  0x1.b9391p-26,   0x1.b9391p-25,   0x1.7272208p-25, 0x1.c9c882p-26,
     0x1.c9c8828p-25, 0x1.939105p-25,  0x1.27220a8p-25, 0x1.391054p-27,  0x1.391054p-26,  0x1.3910548p-25,
     0x1.c882a4p-27,  0x1.c882a5p-26,  0x1.c882a5p-25,  0x1.91054ap-25,  0x1.220a948p-25, 0x1.1054a6p-27,
     0x1.1054a7p-26,  0x1.1054a78p-25, 0x1.054a7cp-28,  0x1.054a7ep-27,  0x1.054a7fp-26,  0x1.054a7fp-25,
     0x1.529fcp-30,   0x1.529fcp-29,   0x1.529fcp-28,   0x1.529fc2p-27,  0x1.529fc2p-26,  0x1.529fc2p-25,
     0x1.4a7f09p-26,  0x1.4a7f098p-25, 0x1.29fc27p-26,  0x1.29fc27p-25,  0x1.4fe13ap-27,  0x1.4fe13ap-26,
     0x1.4fe13a8p-25, 0x1.3f84eap-26,  0x1.3f84ea8p-25, 0x1.fc2756p-27,  0x1.fc2757p-26,  0x1.fc27578p-25,
     0x1.f84eaf8p-25, 0x1.f09d5fp-25,  0x1.e13abe8p-25, 0x1.c2757dp-25,  0x1.84eafap-25,  0x1.09d5f4p-25,
     0x1.3abe88p-29,  0x1.3abe8cp-28,  0x1.3abe8ep-27,  0x1.3abe8fp-26,  0x1.3abe8f8p-25, 0x1.d5f47cp-27,
     0x1.d5f47dp-26,  0x1.d5f47dp-25,  0x1.abe8fa8p-25, 0x1.57d1f5p-25,  0x1.5f47d4p-26,  0x1.5f47d48p-25,
     0x1.7d1f53p-26,  0x1.7d1f53p-25,  0x1.f47d4dp-26,  0x1.f47d4dp-25,  0x1.e8fa9ap-25,  0x1.d1f5348p-25,
     0x1.a3ea698p-25, 0x1.47d4d3p-25,  0x1.1f534dp-26,  0x1.1f534d8p-25, 0x1.f534dcp-28,  0x1.f534dcp-27,
     0x1.f534ddp-26,  0x1.f534dd8p-25, 0x1.ea69bb8p-25, 0x1.d4d377p-25,  0x1.a9a6eep-25,  0x1.534ddcp-25,
     0x1.4d377p-26,   0x1.4d377p-25,   0x1.34ddcp-26,   0x1.34ddc08p-25, 0x1.a6ee06p-27,  0x1.a6ee06p-26,
     0x1.a6ee068p-25, 0x1.4ddc0d8p-25, 0x1.377036p-26,  0x1.3770368p-25, 0x1.bb81b6p-27,  0x1.bb81b6p-26,
     0x1.bb81b68p-25, 0x1.77036d8p-25, 0x1.dc0db6p-26,  0x1.dc0db6p-25,  0x1.b81b6cp-25,  0x1.7036d88p-25,
     0x1.c0db62p-26,  0x1.c0db628p-25, 0x1.81b6c5p-25,  0x1.036d8ap-25,  0x1.b6c52p-31,   0x1.b6c52p-30,
     0x1.b6c528p-29,  0x1.b6c528p-28,  0x1.b6c52ap-27,  0x1.b6c52bp-26,  0x1.b6c52bp-25},
    {0x1.c882a53f84ebp-51,  0x1.91054a7f09d5fp-51, 0x1.220a94fe13abfp-51, 0x1.1054a7f09d5f4p-53,
     0x1.1054a7f09d5f4p-52, 0x1.1054a7f09d5f4p-51, 0x1.054a7f09d5f48p-54, 0x1.054a7f09d5f48p-53,
     0x1.054a7f09d5f48p-52, 0x1.054a7f09d5f48p-51, 0x1.529fc2757d1f5p-56, 0x1.529fc2757d1f5p-55,
     0x1.529fc2757d1f5p-54, 0x1.529fc2757d1f5p-53, 0x1.529fc2757d1f5p-52, 0x1.529fc2757d1f5p-51,
     0x1.4a7f09d5f47d5p-52, 0x1.4a7f09d5f47d5p-51, 0x1.29fc2757d1f53p-52, 0x1.29fc2757d1f53p-51,
     0x1.4fe13abe8fa9ap-53, 0x1.4fe13abe8fa9ap-52, 0x1.4fe13abe8fa9ap-51, 0x1.3f84eafa3ea6ap-52,
     0x1.3f84eafa3ea6ap-51, 0x1.fc2757d1f534ep-53, 0x1.fc2757d1f534ep-52, 0x1.fc2757d1f534ep-51,
     0x1.f84eafa3ea69cp-51, 0x1.f09d5f47d4d37p-51, 0x1.e13abe8fa9a6fp-51, 0x1.c2757d1f534dep-51,
     0x1.84eafa3ea69bcp-51, 0x1.09d5f47d4d377p-51, 0x1.3abe8fa9a6eep-55,  0x1.3abe8fa9a6eep-54,
     0x1.3abe8fa9a6eep-53,  0x1.3abe8fa9a6eep-52,  0x1.3abe8fa9a6eep-51,  0x1.d5f47d4d37703p-53,
     0x1.d5f47d4d37703p-52, 0x1.d5f47d4d37703p-51, 0x1.abe8fa9a6ee07p-51, 0x1.57d1f534ddc0ep-51,
     0x1.5f47d4d377037p-52, 0x1.5f47d4d377037p-51, 0x1.7d1f534ddc0dbp-52, 0x1.7d1f534ddc0dbp-51,
     0x1.f47d4d377036ep-52, 0x1.f47d4d377036ep-51, 0x1.e8fa9a6ee06dbp-51, 0x1.d1f534ddc0db6p-51,
     0x1.a3ea69bb81b6cp-51, 0x1.47d4d377036d9p-51, 0x1.1f534ddc0db63p-52, 0x1.1f534ddc0db63p-51,
     0x1.f534ddc0db629p-54, 0x1.f534ddc0db629p-53, 0x1.f534ddc0db629p-52, 0x1.f534ddc0db629p-51,
     0x1.ea69bb81b6c53p-51, 0x1.d4d377036d8a5p-51, 0x1.a9a6ee06db14bp-51, 0x1.534ddc0db6296p-51,
     0x1.4d377036d8a56p-52, 0x1.4d377036d8a56p-51, 0x1.34ddc0db6295ap-52, 0x1.34ddc0db6295ap-51,
     0x1.a6ee06db14acdp-53, 0x1.a6ee06db14acdp-52, 0x1.a6ee06db14acdp-51, 0x1.4ddc0db629599p-51,
     0x1.377036d8a5665p-52, 0x1.377036d8a5665p-51, 0x1.bb81b6c52b328p-53, 0x1.bb81b6c52b328p-52,
     0x1.bb81b6c52b328p-51, 0x1.77036d8a5664fp-51, 0x1.dc0db6295993cp-52, 0x1.dc0db6295993cp-51,
     0x1.b81b6c52b3279p-51, 0x1.7036d8a5664f1p-51, 0x1.c0db6295993c4p-52, 0x1.c0db6295993c4p-51,
     0x1.81b6c52b32788p-51, 0x1.036d8a5664f11p-51, 0x1.b6c52b3278872p-57, 0x1.b6c52b3278872p-56,
     0x1.b6c52b3278872p-55, 0x1.b6c52b3278872p-54, 0x1.b6c52b3278872p-53, 0x1.b6c52b3278872p-52,
     0x1.b6c52b3278872p-51, 0x1.6d8a5664f10e4p-51, 0x1.b6295993c439p-52,  0x1.b6295993c439p-51,
     0x1.6c52b32788721p-51, 0x1.b14acc9e21c82p-52, 0x1.b14acc9e21c82p-51, 0x1.6295993c43904p-51,
     0x1.8a5664f10e41p-52,  0x1.8a5664f10e41p-51,  0x1.14acc9e21c821p-51, 0x1.4acc9e21c821p-54,
     0x1.4acc9e21c821p-53,  0x1.4acc9e21c821p-52,  0x1.4acc9e21c821p-51,  0x1.2b3278872084p-52,
     0x1.2b3278872084p-51,  0x1.5993c439041fep-53, 0x1.5993c439041fep-52, 0x1.5993c439041fep-51,
     0x1.664f10e4107f9p-52, 0x1.664f10e4107f9p-51, 0x1.993c439041fe5p-52, 0x1.993c439041fe5p-51,
     0x1.3278872083fcap-51, 0x1.93c439041fe51p-53, 0x1.93c439041fe51p-52}};

}  // namespace portacl::engine
