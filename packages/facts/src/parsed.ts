import type { Texts } from './releases.ts';

const parsed = new WeakMap<() => string, unknown>();

/** What the text of that name says, parsed once; undefined where there is none. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the generated texts have no other type
export function parsedOf<T>(texts: Texts | undefined, name: string): T | undefined {
  const text = texts !== undefined && Object.hasOwn(texts, name) ? texts[name] : undefined;
  if (text === undefined) return undefined;
  if (!parsed.has(text)) parsed.set(text, JSON.parse(text()));
  return parsed.get(text) as T;
}
