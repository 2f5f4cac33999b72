const SAFE = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short name for a JSON value: FNV-1a over its sorted keys, in the letters that Kubernetes uses for it. It has the form
 * of `pod-template-hash`, not its value: that one is made from a dump of Go structs.
 * @param collisions how often the name was taken by something else
 */
export function templateHash(value: unknown, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(canonical(value) + (collisions ? String(collisions) : ''))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return Array.from(String(hash), (digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join('');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join()}}`;
}
