import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as bytes: 4 or 16. Undefined when the text is none. Leading zeros and zones are refused. */
export function parseIp(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  let address = text;
  const embedded = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (embedded) {
    const bytes = (embedded[2] ?? '').split('.').map(Number);
    const group = (high: number) => (((bytes[high] ?? 0) << 8) | (bytes[high + 1] ?? 0)).toString(16);
    address = `${embedded[1]}${group(0)}:${group(2)}`;
  }
  const [head = '', tail] = address.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((hex) => Number.parseInt(hex, 16)));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Uint8Array.from(all.flatMap((value) => [value >> 8, value & 255]));
}

/** A network in CIDR notation: the address as given and the length of the prefix. Undefined when the text is none. */
export function parseCidr(text: string): { readonly ip: Uint8Array; readonly prefix: number } | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (!match?.[1] || !match[2] || (match[2].length > 1 && match[2].startsWith('0'))) return undefined;
  const ip = parseIp(match[1]);
  const prefix = Number(match[2]);
  return ip && prefix <= ip.length * 8 ? { ip, prefix } : undefined;
}

/** Whether the first `prefix` bits of two addresses of one family are the same. */
export function samePrefix(a: Uint8Array, b: Uint8Array, prefix: number): boolean {
  if (a.length !== b.length) return false;
  for (let bit = 0; bit < prefix; bit++) {
    const mask = 0x80 >> (bit & 7);
    if (((a[bit >> 3] ?? 0) & mask) !== ((b[bit >> 3] ?? 0) & mask)) return false;
  }
  return true;
}

/** The canonical text of an address (RFC 5952). */
export function formatIp(ip: Uint8Array): string {
  if (ip.length === 4) return ip.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (((ip[2 * i] ?? 0) << 8) | (ip[2 * i + 1] ?? 0)).toString(16));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
}
