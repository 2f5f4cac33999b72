/** What etcd takes as one object, in bytes (its --max-request-bytes, 1.5 MiB); kube-apiserver keeps objects as JSON. */
export const largestObject = 1.5 * 2 ** 20;

/** What the API server takes as all values of a ConfigMap or Secret together, in bytes (core/v1 MaxSecretSize). */
export const largestData = 2 ** 20;

/** Bytes of a value as JSON. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/** A number of bytes in words, such as `2.7 MiB`; rounded up, so that what is above a limit never looks like the limit. */
export function mebibytes(bytes: number): string {
  return `${(Math.ceil((bytes / 2 ** 20) * 100) / 100).toString()} MiB`;
}

/** The innermost field that has more than half of a value's bytes: what is worth being shortened. */
export function largestField(value: unknown, path = ''): string {
  if (typeof value !== 'object' || value === null) return path;
  const half = bytesOf(value) / 2;
  const [found] = Object.entries(value).filter(([, child]) => bytesOf(child) > half);
  if (found === undefined) return path;
  const [name, child] = found;
  if (Array.isArray(value)) return largestField(child, `${path}[${name}]`);
  if (name.includes('.')) return largestField(child, `${path}[${JSON.stringify(name)}]`);
  return largestField(child, path === '' ? name : `${path}.${name}`);
}
