import { randomBytes } from 'node:crypto';

/** A source of randomness. With a seed a run is repeatable. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `n` random bytes. */
  bytes(n: number): Uint8Array;
}

/** The machine's cryptographic source. */
export const realRandom: Random = {
  next: () => Math.random(),
  bytes: (n) => randomBytes(n),
};

/** A repeatable source (mulberry32); for tests and the sandbox only, never for secrets of a real cloud. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { next, bytes: (n) => Uint8Array.from({ length: n }, () => Math.floor(next() * 256)) };
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** `length` characters of [A-Za-z0-9], each equally likely. */
export function alphanumeric(random: Random, length: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length - text.length)) {
      // 248 = 4 * 62: bytes above it would favour the first letters.
      if (byte < 248) text += alphabet[byte % 62];
    }
  }
  return text;
}
