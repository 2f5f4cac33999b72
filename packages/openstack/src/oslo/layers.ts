import type { OptionValue, OsloFile } from './writer.ts';

/** What a layer may say of an option: a value, or null to leave it unset. */
export type Layer = Readonly<Record<string, Readonly<Record<string, OptionValue | null>>>>;

/**
 * Lays later layers over earlier ones: options merge, lists are replaced as a whole, null deletes.
 * Sections that end up empty are left out.
 */
export function layered(...layers: readonly Layer[]): OsloFile {
  const result: Record<string, Record<string, OptionValue>> = {};
  for (const layer of layers) {
    for (const [section, options] of Object.entries(layer)) {
      const target = (result[section] ??= {});
      for (const [name, value] of Object.entries(options)) {
        if (value === null) delete target[name];
        else target[name] = value;
      }
    }
  }
  return Object.fromEntries(Object.entries(result).filter(([, options]) => Object.keys(options).length > 0));
}
