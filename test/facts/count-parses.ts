import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { compose } from '../../packages/openstack/src/engine/compose/compose.ts';
import { surroundingsOf } from '../../packages/openstack/src/engine/vocabulary/surroundings.ts';
import { services } from '../../packages/openstack/src/services/index.ts';
import { resource, samples, surroundings } from '../../packages/openstack/src/testing/compositions.ts';

// A thread of its own, as nothing is parsed in it yet: tells how often JSON is parsed while all samples that take options
// are composed, first without options, then with one.

const read = (name: string) => readFileSync(new URL(`../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** Lists of some samples say options, too. */
const silent = services.flatMap((service) => {
  const sample = samples.map((name) => resource(read(name))).find(({ kind }) => kind === service.kind.kind);
  const isOslo = service.kind.spec.schema.properties?.['unknownOptions'] !== undefined;
  return sample === undefined || !isOslo || JSON.stringify(sample).includes('"config":') ? [] : [{ service, sample }];
});

let count = 0;
const { parse } = JSON;
JSON.parse = (...parameters: Parameters<typeof parse>) => {
  count += 1;
  return parse(...parameters) as unknown;
};

const counts = [{}, { api: { DEFAULT: { debug: true } } }].map((config) => {
  count = 0;
  for (const { service, sample } of silent)
    compose(service, { ...sample, spec: { ...sample.spec, config } }, surroundingsOf(surroundings(read)));
  return count;
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
parentPort?.postMessage(counts);
