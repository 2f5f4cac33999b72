/** `parent.child`, or `child` at the root (field.Path.Child). */
export function child(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** `parent[3]` (field.Path.Index). */
export function index(parent: string, position: number): string {
  return `${parent}[${position}]`;
}

/** `parent[key]`, for an entry of a map (field.Path.Key). */
export function key(parent: string, name: string): string {
  return `${parent}[${name}]`;
}
