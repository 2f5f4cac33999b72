import type { GeneratedFile } from './generated-file.ts';
export function apiReference(): readonly GeneratedFile[] {
  return [];
}
