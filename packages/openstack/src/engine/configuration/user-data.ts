import { type Data, isMap, overlaid } from '../../formats/data.ts';
import { writeData } from '../../formats/write-data.ts';
import type { DataSource } from '../vocabulary/config-files.ts';
import type { Problem } from '../vocabulary/step.ts';
import { fixed } from './user-config.ts';

/** Levels of maps and lists within each other. */
const deepest = 32;

/**
 * What users say of one file of data, checked: the layer, or what is wrong with it. `path` is that of the field, such as
 * `spec.config["polling.yaml"]`.
 */
export function userData(
  source: DataSource,
  layer: Data,
  path: string,
): { layer?: Data; problems: readonly Problem[] } {
  const message = mistake(layer, path, 0) ?? ownedMistake(source, layer, path) ?? unwritable(source, layer, path);
  return message === undefined ? { layer, problems: [] } : { problems: [{ reason: 'ConfigRefused', message }] };
}

function mistake(data: Data, path: string, depth: number): string | undefined {
  if (depth > deepest) return `${path}: maps and lists may be ${deepest} levels deep`;
  if (typeof data !== 'object' || data === null) return undefined;
  for (const [key, value] of Object.entries(data)) {
    const at = Array.isArray(data) ? `${path}[${key}]` : `${path}.${key}`;
    // Assigning to it would change the prototype of every object of the process.
    if (key in Object.prototype) return `${at}: no key is named ${key}`;
    const found = mistake(value, at, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownedMistake({ owned = {} }: DataSource, layer: Data, path: string): string | undefined {
  for (const [pattern, field] of Object.entries(owned)) {
    const said = saidAt(layer, pattern.split('.'));
    if (said === undefined) continue;
    const at = `${path}.${said.join('.')}`;
    return field.startsWith(fixed)
      ? `${at}: the operator sets this itself: ${field.slice(fixed.length)}; remove it`
      : `${at}: this follows from other fields: set ${field} instead`;
  }
  return undefined;
}

/**
 * The keys by which a layer says what a pattern means, or something above that; undefined when it does not. Of what `*`
 * stands for nothing above is meant, and to take it away says nothing.
 */
function saidAt(layer: Data, pattern: readonly string[]): readonly string[] | undefined {
  const [segment, ...rest] = pattern;
  if (segment === undefined || !isMap(layer)) return pattern;
  for (const [key, value] of Object.entries(layer)) {
    const isOpen = segment.includes('*') && (rest.length === 0 ? value === null : !isMap(value));
    const found = !isOpen && isLike(key, segment) ? saidAt(value, rest) : undefined;
    if (found !== undefined) return [key, ...found];
  }
  return undefined;
}

function isLike(key: string, pattern: string): boolean {
  const [head = '', tail] = pattern.split('*');
  if (tail === undefined) return key === pattern;
  return key.length >= head.length + tail.length && key.startsWith(head) && key.endsWith(tail);
}

function unwritable({ format, data }: DataSource, layer: Data, path: string): string | undefined {
  try {
    writeData(format, overlaid(data, layer));
    return undefined;
  } catch (error) {
    return `${path}: ${(error as Error).message}`;
  }
}
