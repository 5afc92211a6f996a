/* The instruction forms of x86-64 that wick's native code is made of: one row each, checked against binutils by
 * tests/unit/native/test_x86.c. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
#pragma once

/* clang-format off */
/*  X(NAME, text, encoding, prefix (0, 0x66, 0xf3, 0xf2), map (0: one byte, 1: 0F, 2: 0F 38, 3: 0F 3A), opcode, W,
 *    extension (what the reg field holds besides a register; -1: a register),
 *    operands: a letter each for reg, other, rm: V a vector, H one of half its length, X an xmm, K a mask, D and Q
 *      general registers of 32 and 64 bits, - none; small letters: memory only,
 *    order as written: the operands' letters r, o, m, and i for a number,
 *    bytes of the number,
 *    memory: F a vector, or an element that is broadcast, H the same of half a vector, f and h without broadcasting,
 *      1 one element of `element` bytes, - any address,
 *    element: its bytes,
 *    mask: 1 where it takes one, 2 where it takes one and may not zero) */
#define X86_ROWS(X) \
  /* general registers */ \
  X(MOV_LOAD, "mov", LEGACY, 0, 0, 0x8b, 1, -1, "Q-q", "rm", 0, '-', 8, 0) \
  X(MOV_REGISTER, "mov", LEGACY, 0, 0, 0x89, 1, -1, "Q-Q", "mr", 0, '-', 8, 0) \
  X(MOV_32, "mov", LEGACY, 0, 0, 0xb8, 0, -2, "--D", "mi", 4, '-', 4, 0) \
  X(MOV_64, "movabs", LEGACY, 0, 0, 0xb8, 1, -2, "--Q", "mi", 8, '-', 8, 0) \
  X(ADD_NUMBER, "add", LEGACY, 0, 0, 0x81, 1, 0, "--Q", "mi", 4, '-', 8, 0) \
  X(SUB_NUMBER, "sub", LEGACY, 0, 0, 0x81, 1, 5, "--Q", "mi", 4, '-', 8, 0) \
  X(AND_NUMBER, "and", LEGACY, 0, 0, 0x81, 1, 4, "--Q", "mi", 4, '-', 8, 0) \
  X(SUB, "sub", LEGACY, 0, 0, 0x29, 1, -1, "Q-Q", "mr", 0, '-', 8, 0) \
  X(XOR_32, "xor", LEGACY, 0, 0, 0x31, 0, -1, "D-D", "mr", 0, '-', 4, 0) \
  X(CMP, "cmp", LEGACY, 0, 0, 0x39, 1, -1, "Q-Q", "mr", 0, '-', 8, 0) \
  X(LEA, "lea", LEGACY, 0, 0, 0x8d, 1, -1, "Q-q", "rm", 0, '-', 8, 0) \
  X(PUSH, "push", LEGACY, 0, 0, 0x50, 0, -2, "--Q", "m", 0, '-', 8, 0) \
  X(POP, "pop", LEGACY, 0, 0, 0x58, 0, -2, "--Q", "m", 0, '-', 8, 0) \
  X(RET, "ret", LEGACY, 0, 0, 0xc3, 0, -3, "---", "", 0, '-', 8, 0) \
  X(JMP, "jmp", LEGACY, 0, 0, 0xe9, 0, -3, "---", "i", 4, '-', 8, 0) \
  X(JA, "ja", LEGACY, 0, 1, 0x87, 0, -3, "---", "i", 4, '-', 8, 0) \
  X(JBE, "jbe", LEGACY, 0, 1, 0x86, 0, -3, "---", "i", 4, '-', 8, 0) \
  X(JE, "je", LEGACY, 0, 1, 0x84, 0, -3, "---", "i", 4, '-', 8, 0) \
  X(BZHI, "bzhi", VEX, 0, 2, 0xf5, 0, -1, "DDD", "rmo", 0, '-', 4, 0) \
  X(VZEROUPPER, "vzeroupper", VEX, 0, 1, 0x77, 0, -3, "---", "", 0, '-', 8, 0) \
  /* masks; those with two sources have bit L set */ \
  X(KMOV, "kmovw", VEX, 0, 1, 0x90, 0, -1, "K-K", "rm", 0, '-', 2, 0) \
  X(KMOV_LOAD, "kmovw", VEX, 0, 1, 0x90, 0, -1, "K-k", "rm", 0, '-', 2, 0) \
  X(KMOV_STORE, "kmovw", VEX, 0, 1, 0x91, 0, -1, "K-k", "mr", 0, '-', 2, 0) \
  X(KMOV_FROM_32, "kmovw", VEX, 0, 1, 0x92, 0, -1, "K-D", "rm", 0, '-', 4, 0) \
  X(KNOT, "knotw", VEX, 0, 1, 0x44, 0, -1, "K-K", "rm", 0, '-', 2, 0) \
  X(KAND, "kandw", VEX, 0, 1, 0x41, 0, -1, "KKK", "rom", 0, '-', 2, 0) \
  X(KANDN, "kandnw", VEX, 0, 1, 0x42, 0, -1, "KKK", "rom", 0, '-', 2, 0) \
  X(KOR, "korw", VEX, 0, 1, 0x45, 0, -1, "KKK", "rom", 0, '-', 2, 0) \
  X(KXOR, "kxorw", VEX, 0, 1, 0x47, 0, -1, "KKK", "rom", 0, '-', 2, 0) \
  /* moves */ \
  X(VMOVUPS, "vmovups", EVEX, 0, 1, 0x10, 0, -1, "V-V", "rm", 0, 'f', 4, 1) \
  X(VMOVUPS_STORE, "vmovups", EVEX, 0, 1, 0x11, 0, -1, "V-v", "mr", 0, 'f', 4, 2) \
  X(VMOVUPD, "vmovupd", EVEX, 0x66, 1, 0x10, 1, -1, "V-V", "rm", 0, 'f', 8, 1) \
  X(VMOVUPD_STORE, "vmovupd", EVEX, 0x66, 1, 0x11, 1, -1, "V-v", "mr", 0, 'f', 8, 2) \
  X(VMOVDQU8, "vmovdqu8", EVEX, 0xf2, 1, 0x6f, 0, -1, "V-V", "rm", 0, 'f', 1, 1) \
  X(VMOVDQU8_STORE, "vmovdqu8", EVEX, 0xf2, 1, 0x7f, 0, -1, "V-v", "mr", 0, 'f', 1, 2) \
  X(VBROADCASTSS, "vbroadcastss", EVEX, 0x66, 2, 0x18, 0, -1, "V-x", "rm", 0, '1', 4, 1) \
  X(VBROADCASTSD, "vbroadcastsd", EVEX, 0x66, 2, 0x19, 1, -1, "V-x", "rm", 0, '1', 8, 1) \
  X(VPBROADCASTD, "vpbroadcastd", EVEX, 0x66, 2, 0x7c, 0, -1, "V-D", "rm", 0, '-', 4, 1) \
  X(VPBROADCASTQ, "vpbroadcastq", EVEX, 0x66, 2, 0x7c, 1, -1, "V-Q", "rm", 0, '-', 8, 1) \
  /* floats */ \
  X(VADDPS, "vaddps", EVEX, 0, 1, 0x58, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VADDPD, "vaddpd", EVEX, 0x66, 1, 0x58, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VSUBPS, "vsubps", EVEX, 0, 1, 0x5c, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VSUBPD, "vsubpd", EVEX, 0x66, 1, 0x5c, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VMULPS, "vmulps", EVEX, 0, 1, 0x59, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VMULPD, "vmulpd", EVEX, 0x66, 1, 0x59, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VDIVPS, "vdivps", EVEX, 0, 1, 0x5e, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VDIVPD, "vdivpd", EVEX, 0x66, 1, 0x5e, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VMINPS, "vminps", EVEX, 0, 1, 0x5d, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VMINPD, "vminpd", EVEX, 0x66, 1, 0x5d, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VMAXPS, "vmaxps", EVEX, 0, 1, 0x5f, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VMAXPD, "vmaxpd", EVEX, 0x66, 1, 0x5f, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VSQRTPS, "vsqrtps", EVEX, 0, 1, 0x51, 0, -1, "V-V", "rm", 0, 'F', 4, 1) \
  X(VSQRTPD, "vsqrtpd", EVEX, 0x66, 1, 0x51, 1, -1, "V-V", "rm", 0, 'F', 8, 1) \
  X(VFMADD213PS, "vfmadd213ps", EVEX, 0x66, 2, 0xa8, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VFMADD213PD, "vfmadd213pd", EVEX, 0x66, 2, 0xa8, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VRNDSCALEPS, "vrndscaleps", EVEX, 0x66, 3, 0x08, 0, -1, "V-V", "rmi", 1, 'F', 4, 1) \
  X(VRNDSCALEPD, "vrndscalepd", EVEX, 0x66, 3, 0x09, 1, -1, "V-V", "rmi", 1, 'F', 8, 1) \
  X(VCMPPS, "vcmpps", EVEX, 0, 1, 0xc2, 0, -1, "KVV", "romi", 1, 'F', 4, 2) \
  X(VCMPPD, "vcmppd", EVEX, 0x66, 1, 0xc2, 1, -1, "KVV", "romi", 1, 'F', 8, 2) \
  X(VBLENDMPS, "vblendmps", EVEX, 0x66, 2, 0x65, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VBLENDMPD, "vblendmpd", EVEX, 0x66, 2, 0x65, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  /* integers and bits */ \
  X(VPANDD, "vpandd", EVEX, 0x66, 1, 0xdb, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VPANDQ, "vpandq", EVEX, 0x66, 1, 0xdb, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPORD, "vpord", EVEX, 0x66, 1, 0xeb, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VPORQ, "vporq", EVEX, 0x66, 1, 0xeb, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPXORD, "vpxord", EVEX, 0x66, 1, 0xef, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VPXORQ, "vpxorq", EVEX, 0x66, 1, 0xef, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPADDD, "vpaddd", EVEX, 0x66, 1, 0xfe, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VPADDQ, "vpaddq", EVEX, 0x66, 1, 0xd4, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPSUBD, "vpsubd", EVEX, 0x66, 1, 0xfa, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VPSUBQ, "vpsubq", EVEX, 0x66, 1, 0xfb, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPMULLQ, "vpmullq", EVEX, 0x66, 2, 0x40, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPABSQ, "vpabsq", EVEX, 0x66, 2, 0x1f, 1, -1, "V-V", "rm", 0, 'F', 8, 1) \
  X(VPMINSD, "vpminsd", EVEX, 0x66, 2, 0x39, 0, -1, "VVV", "rom", 0, 'F', 4, 1) \
  X(VPMINSQ, "vpminsq", EVEX, 0x66, 2, 0x39, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPMAXSQ, "vpmaxsq", EVEX, 0x66, 2, 0x3d, 1, -1, "VVV", "rom", 0, 'F', 8, 1) \
  X(VPCMPQ, "vpcmpq", EVEX, 0x66, 3, 0x1f, 1, -1, "KVV", "romi", 1, 'F', 8, 2) \
  X(VPTESTMB, "vptestmb", EVEX, 0x66, 2, 0x26, 0, -1, "KVV", "rom", 0, 'f', 1, 2) \
  X(VPTESTMQ, "vptestmq", EVEX, 0x66, 2, 0x27, 1, -1, "KVV", "rom", 0, 'F', 8, 2) \
  X(VPMOVD2M, "vpmovd2m", EVEX, 0xf3, 2, 0x39, 0, -1, "K-V", "rm", 0, '-', 4, 0) \
  X(VPMOVQ2M, "vpmovq2m", EVEX, 0xf3, 2, 0x39, 1, -1, "K-V", "rm", 0, '-', 8, 0) \
  X(VPSLLD, "vpslld", EVEX, 0x66, 1, 0x72, 0, 6, "-VV", "omi", 1, 'F', 4, 1) \
  X(VPSLLQ, "vpsllq", EVEX, 0x66, 1, 0x73, 1, 6, "-VV", "omi", 1, 'F', 8, 1) \
  X(VPSRLD, "vpsrld", EVEX, 0x66, 1, 0x72, 0, 2, "-VV", "omi", 1, 'F', 4, 1) \
  X(VPSRLQ, "vpsrlq", EVEX, 0x66, 1, 0x73, 1, 2, "-VV", "omi", 1, 'F', 8, 1) \
  X(VPSRAD, "vpsrad", EVEX, 0x66, 1, 0x72, 0, 4, "-VV", "omi", 1, 'F', 4, 1) \
  /* conversions */ \
  X(VCVTDQ2PS, "vcvtdq2ps", EVEX, 0, 1, 0x5b, 0, -1, "V-V", "rm", 0, 'F', 4, 1) \
  X(VCVTQQ2PS, "vcvtqq2ps", EVEX, 0, 1, 0x5b, 1, -1, "H-V", "rm", 0, 'F', 8, 1) \
  X(VCVTQQ2PD, "vcvtqq2pd", EVEX, 0xf3, 1, 0xe6, 1, -1, "V-V", "rm", 0, 'F', 8, 1) \
  X(VCVTTPS2QQ, "vcvttps2qq", EVEX, 0x66, 1, 0x7a, 0, -1, "V-H", "rm", 0, 'H', 4, 1) \
  X(VCVTTPD2QQ, "vcvttpd2qq", EVEX, 0x66, 1, 0x7a, 1, -1, "V-V", "rm", 0, 'F', 8, 1) \
  X(VCVTPS2PD, "vcvtps2pd", EVEX, 0, 1, 0x5a, 0, -1, "V-H", "rm", 0, 'H', 4, 1) \
  X(VCVTPD2PS, "vcvtpd2ps", EVEX, 0x66, 1, 0x5a, 1, -1, "H-V", "rm", 0, 'F', 8, 1) \
  X(VCVTPS2PH, "vcvtps2ph", EVEX, 0x66, 3, 0x1d, 0, -1, "V-H", "mri", 1, 'h', 2, 1) \
  X(VCVTPH2PS, "vcvtph2ps", EVEX, 0x66, 2, 0x13, 0, -1, "V-H", "rm", 0, 'h', 2, 1)
/* clang-format on */
