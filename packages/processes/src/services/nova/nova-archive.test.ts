import { expect, test } from 'vitest';
import type { Row, Schema } from '../../infrastructure/mysql-protocol.ts';
import { archiveRows, purgeRows } from './nova-archive.ts';

const day = 86_400_000;
const at = (days: number) => ({ deleted_at: `2026-01-${String(days).padStart(2, '0')}T00:00:00Z` });
const january = 1_767_225_600_000;

function cell(rows: Readonly<Record<string, Row>>): Schema {
  return { tables: new Map([['instances', new Map(Object.entries(rows))]]) } as unknown as Schema;
}

test('rows of deleted servers are archived when they are old enough, in batches, and purged later', () => {
  const schema = cell({ old: at(1), older: at(2), young: at(20), alive: {} });
  const before = january + 10 * day;
  expect(archiveRows(schema, { before, maxRows: 1 })).toEqual(['old']);
  expect(archiveRows(schema, { before, maxRows: 1000 })).toEqual(['older']);
  expect(archiveRows(schema, { before, maxRows: 1000 })).toEqual([]);
  expect([...(schema.tables.get('instances')?.keys() ?? [])]).toEqual(['young', 'alive']);
  expect(purgeRows(schema, january + day)).toBe(1);
  expect(purgeRows(schema, january + day)).toBe(0);
  expect([...(schema.tables.get('shadow_instances')?.keys() ?? [])]).toEqual(['older']);
});
