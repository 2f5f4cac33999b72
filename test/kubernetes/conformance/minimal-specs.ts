import { readdirSync, readFileSync } from 'node:fs';
import { kinds } from '@openstack-operator/openstack';
import { parse } from 'yaml';

const samples = new URL('../../../config/samples/', import.meta.url);

/** What a spec of a kind has to have, as its sample has it; only kinds with required fields are in it. */
export const minimalSpecs: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map(
  readdirSync(samples).flatMap((file) => {
    const text = readFileSync(new URL(file, samples), 'utf8');
    const { kind = '', spec } = parse(text) as { kind?: string; spec?: Record<string, unknown> };
    const required = kinds.find((api) => api.kind === kind)?.spec.schema.required ?? [];
    const fields = required.map((name) => [name, spec?.[name]]);
    return required.length === 0 ? [] : [[kind, Object.fromEntries(fields)] as const];
  }),
);
