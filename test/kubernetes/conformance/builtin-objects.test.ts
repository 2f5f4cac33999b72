import { randomBytes } from 'node:crypto';
import type { KubeObject } from '@openstack-operator/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Sample, samples } from './builtin-objects.ts';
import { type Body, stable, type TestServer, testServer } from './server.ts';
import { changedSamples, merge, wrongChanges } from './wrong-changes.ts';
import { wrongObjects } from './wrong-objects.ts';

// The snapshots are the real server's: vitest run --config test/kubernetes/conformance/vitest.config.ts --project kubernetes -u

let server: TestServer;
let namespace: string;
/** The end of an address that no earlier run on the same server has taken. */
let octets: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
  octets = [...randomBytes(2)].map((byte) => Math.min(byte, 250) + 1).join('.');
});

function placed<T>(value: T): T {
  const text = JSON.stringify(value).replaceAll('<namespace>', namespace).replaceAll('<octets>', octets);
  return JSON.parse(text) as T;
}

function sampleOf(from: Readonly<Record<string, Sample>>, name: string): Sample {
  const sample = from[name];
  if (!sample) throw new Error(`no sample ${name}`);
  return placed(sample);
}

/** An object without what others than the kind itself give it: addresses, the plugins of admission, the clock. */
function comparable(body: Body): unknown {
  const object: KubeObject = body;
  const { managedFields: _, ...metadata } = object.metadata;
  metadata.finalizers = (metadata.finalizers ?? []).filter((name) => !/^kubernetes\.io\/pvc?-protection$/.test(name));
  const spec = object['spec'] as Record<string, unknown> | undefined;
  const status = object['status'] as Record<string, unknown> | undefined;
  if (object.kind === 'Service' && spec?.['clusterIP'] !== 'None') {
    delete spec?.['clusterIP'];
    delete spec?.['clusterIPs'];
  }
  if (object.kind === 'Node' && spec) {
    const taints = spec['taints'] as { key: string }[];
    spec['taints'] = taints.filter(({ key }) => key !== 'node.kubernetes.io/not-ready');
  }
  delete status?.['lastPhaseTransitionTime'];
  return stable(sorted({ ...object, metadata }), namespace);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]));
}

/** What a refusal says: its causes, each once, without the diffs that some carry. */
function refusal(answer: Body): unknown {
  if (answer.kind !== 'Status') return 'accepted';
  const causes = answer.details?.causes?.map(({ field, message }) => `${field}: ${message?.split('\n')[0]}`);
  const says = causes ? [...new Set(causes)].sort() : [answer.message];
  return stable([answer.code, answer.reason, ...says], namespace);
}

describe('what is stored of a new object', () => {
  test.each(Object.keys(samples))('%s', async (name) => {
    const { path, object } = sampleOf(samples, name);
    const answer = await server.request('POST', `${path}?dryRun=All`, { body: object });
    expect(comparable(answer.body)).toMatchSnapshot();
  });
});

test('rules that compare labels by their keys are told by the labels of the pod itself', async () => {
  const { path, object } = sampleOf(samples, 'pod');
  const [labels, labelSelector] = [{ app: 'x', revision: '1' }, { matchLabels: { app: 'x' } }];
  const term = { topologyKey: 'zone', labelSelector, matchLabelKeys: ['revision', 'absent'] };
  const apart = { ...term, matchLabelKeys: [], mismatchLabelKeys: ['revision'] };
  const constraint = { ...term, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' };
  const preferred = (podAffinityTerm: object) => ({
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }],
  });
  const affinity = { podAffinity: preferred(apart), podAntiAffinity: preferred(term) };
  const patch = { metadata: { labels }, spec: { affinity, topologySpreadConstraints: [constraint] } };
  const answer = await server.request('POST', `${path}?dryRun=All`, { body: merge(object, patch) });
  const told = (operator: string) => ({
    labelSelector: { ...labelSelector, matchExpressions: [{ key: 'revision', operator, values: ['1'] }] },
  });
  expect(answer.body).toMatchObject({
    spec: {
      affinity: { podAffinity: preferred(told('NotIn')), podAntiAffinity: preferred(told('In')) },
      topologySpreadConstraints: [told('In')],
    },
  });
});

describe('what is refused on create', () => {
  test.each(Object.entries(wrongObjects))('%s', async (_name, { from, patch }) => {
    const { path, object } = sampleOf(samples, from);
    const answer = await server.request('POST', `${path}?dryRun=All`, { body: merge(object, placed(patch)) });
    expect(refusal(answer.body)).toMatchSnapshot();
  });
});

describe('what is refused on change', () => {
  test.each(Object.entries(wrongChanges).map(([name, wrong], position) => ({ name, position, ...wrong })))(
    '$name',
    async ({ from, patch, position }) => {
      const { path, object } = sampleOf(changedSamples, from);
      const base = object.metadata.name === 'sample' ? 'changed' : namespace;
      const changed: KubeObject = { ...object, metadata: { ...object.metadata, name: `${base}-${position}` } };
      const created = await server.request('POST', path, { body: changed });
      expect(created.status, JSON.stringify(created.body)).toBe(201);
      const contentType = 'application/merge-patch+json';
      const answer = await server.request('PATCH', `${path}/${changed.metadata.name}`, { body: patch, contentType });
      expect(refusal(answer.body)).toMatchSnapshot();
    },
  );
});
