import { readdirSync, readFileSync } from 'node:fs';
import { kinds, neededFields } from '@openstack-operator/openstack';
import { parse } from 'yaml';

const samples = new URL('../../../config/samples/', import.meta.url);

/** What a spec of a kind has to have, as a sample that has all of it says; only kinds that need something are in it. */
export const minimalSpecs: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map(
  readdirSync(samples).flatMap((file) => {
    const text = readFileSync(new URL(file, samples), 'utf8');
    const { kind = '', spec } = parse(text) as { kind?: string; spec?: Record<string, unknown> };
    const schema = kinds.find((api) => api.kind === kind)?.spec.schema ?? {};
    const fields = neededFields(schema).map((name) => [name, spec?.[name]] as const);
    const isWhole = fields.length > 0 && fields.every(([, value]) => value !== undefined);
    return isWhole ? [[kind, Object.fromEntries(fields)] as const] : [];
  }),
);
