import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

interface Term {
  readonly topologyKey: string;
  readonly labelSelector: { readonly matchLabels: object };
  readonly matchLabelKeys?: readonly string[];
}
interface PodSpec {
  readonly affinity?: {
    readonly podAntiAffinity: {
      readonly preferredDuringSchedulingIgnoredDuringExecution: readonly { readonly podAffinityTerm: Term }[];
    };
  };
  readonly topologySpreadConstraints: readonly (Term & { readonly whenUnsatisfiable: string })[];
}

interface Spec {
  readonly template: { readonly metadata: { readonly labels: object }; readonly spec: PodSpec };
}

/** What a workload of a sample says of where its pods had rather be. */
function spread(sample: string, workload: string, spec: object) {
  const base = resource(read(sample));
  const [template] = objectsOf(composed({ ...base, spec: { ...base.spec, ...spec } }, surroundings(read))).flatMap(
    ({ object }) => (`${object.kind} ${object.metadata.name}` === workload ? [(object['spec'] as Spec).template] : []),
  );
  if (template === undefined) throw new Error(`${sample} has no ${workload}`);
  const { affinity, topologySpreadConstraints } = template.spec;
  const terms = (affinity?.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ podAffinityTerm }) => podAffinityTerm,
  );
  for (const { labelSelector } of [...terms, ...topologySpreadConstraints])
    expect(template.metadata.labels).toMatchObject(labelSelector.matchLabels);
  return {
    apart: terms.map(({ topologyKey }) => topologyKey),
    soft: topologySpreadConstraints.map((one) => `${one.topologyKey} ${one.whenUnsatisfiable}`),
    keys: [...terms, ...topologySpreadConstraints].map(({ matchLabelKeys = [] }) => matchLabelKeys.join()),
  };
}

const [zone, host] = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];
const soft = [`${host} ScheduleAnyway`];

test('several pods of an API are kept apart by nodes and zones, those of the revision before left out', () => {
  const api = (replicas: number, more: object = {}) =>
    spread('placement', 'Deployment placement-api', { replicas, ...more });
  expect(api(1)).toEqual({ apart: [], soft, keys: [''] });
  expect(api(2)).toEqual({ apart: [zone], soft, keys: ['pod-template-hash', 'pod-template-hash'] });
});

test('members of a quorum are kept apart by nodes twice; one member is as it was', () => {
  const broker = (replicas: number) => spread('rabbitmq', 'StatefulSet rabbitmq', { replicas });
  expect(broker(1)).toEqual({ apart: [], soft, keys: [''] });
  expect(broker(3)).toEqual({ apart: [zone, host], soft, keys: ['', '', ''] });
});

test('affinity of the user is all there is', () => {
  const affinity = { nodeAffinity: {} };
  const base = resource(read('placement'));
  const spec = { ...base.spec, replicas: 2, components: { api: { affinity } } };
  const found = objectsOf(composed({ ...base, spec }, surroundings(read))).find(
    ({ object }) => object.kind === 'Deployment',
  );
  expect(found?.object).toMatchObject({ spec: { template: { spec: { affinity } } } });
  expect(JSON.stringify(found?.object)).not.toContain(zone);
});
