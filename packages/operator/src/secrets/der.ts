/** ASN.1 in its distinguished encoding (DER, ITU-T X.690), as far as certificates need it. */

/** One value: its tag, its length and its content. */
function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [] : length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, size.length === 0 ? length : 0x80 | size.length, ...size]), content]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tagged(0x30, ...items);
export const set = (...items: readonly Uint8Array[]): Buffer => tagged(0x31, ...items);
export const octets = (content: Uint8Array): Buffer => tagged(0x04, content);
export const bits = (content: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), content);
export const text = (content: string): Buffer => tagged(0x0c, Buffer.from(content));
export const truth = (): Buffer => tagged(0x01, Buffer.from([0xff]));
/** An element by its number in its context; `explicit` ones hold a whole value. */
export const explicit = (number: number, value: Uint8Array): Buffer => tagged(0xa0 | number, value);
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(0x80 | number, content);

/** A number that is not negative, from its bytes, the highest first. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const trimmed = first < 0 ? Buffer.from([0]) : bytes.subarray(first);
  return tagged(0x02, Buffer.from((trimmed[0] ?? 0) & 0x80 ? [0] : []), trimmed);
}

/** An object identifier such as `2.5.4.3`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const base128 = (arc: number): number[] => {
    const bytes = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80);
    return bytes;
  };
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A time (RFC 3339, in UTC) as certificates have it (RFC 5280, 4.1.2.5): two digits of the year before 2050. */
export function time(rfc3339: string): Buffer {
  const digits = rfc3339.replaceAll(/\.\d+|[-:T]/g, '');
  return digits < '2050' ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

/** The values within a constructed one, each with its tag and length. */
export function valuesIn(constructed: Uint8Array): Buffer[] {
  const content = Buffer.from(constructed);
  const values: Buffer[] = [];
  for (let at = content.length - lengthOf(content).length; at < content.length; ) {
    const { header, length } = lengthOf(content.subarray(at));
    values.push(content.subarray(at, at + header + length));
    at += header + length;
  }
  return values;
}

/** How long the first value is: its tag and length, and its content. */
function lengthOf(bytes: Buffer): { header: number; length: number } {
  const short = bytes[1] ?? 0;
  if (short < 0x80) return { header: 2, length: short };
  const size = short & 0x7f;
  return { header: 2 + size, length: bytes.readUIntBE(2, size) };
}
