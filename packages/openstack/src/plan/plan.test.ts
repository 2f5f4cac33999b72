import { type KubeObject, parseTimestamp, type StoredObject, timestamp } from '@openstack-operator/kube';
import { describe, expect, test } from 'vitest';
import { digest } from '../engine/names/digest.ts';
import { annotations, cloudLabel } from '../engine/names/names.ts';
import type { Desired, NodeClaim, Step } from '../engine/vocabulary/step.ts';
import type { Action } from './action.ts';
import type { Live } from './live.ts';
import { plan } from './plan.ts';
import { liveWith, stored } from './testing.ts';

const now = 1_800_000_000_000;
const step = (condition: string, objects: readonly Desired[], more: Partial<Step> = {}): Step => {
  return { condition, needs: [], awaits: [], objects, ...more };
};
const planned = (steps: readonly Step[], live: Live): string[] =>
  plan({ steps, complete: true, status: {} }, live).actions.map(
    (action) => `${action.verb} ${nameOf(action)}: ${action.reason}`,
  );

function nameOf(action: Action): string {
  if (action.verb === 'refuse') return action.error.name;
  if (action.verb === 'claim') return action.node.metadata.name;
  if ('desired' in action) return action.desired.object.metadata.name ?? '';
  return ('object' in action ? action.object : action.live).metadata.name ?? '';
}

const config = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns' },
  data: { a: '1' },
});
const asStated = (object: KubeObject): StoredObject => {
  const applied = { annotations: { [annotations.applied]: digest(object) } };
  return stored(object.apiVersion, object.kind, object.metadata.name ?? '', { ...object, metadata: applied });
};
const apply = (object: KubeObject): Desired => ({ verb: 'apply', object });

describe('objects', () => {
  test('what is missing or differs is applied; what is live as stated is left alone; what nothing wants is deleted', () => {
    const [a, b, c] = [config('a'), config('b'), config('c')];
    const live = liveWith([asStated(a), { ...asStated(b), data: { a: '2' } }, asStated(config('old'))]);
    expect(planned([step('ConfigReady', [apply(a), apply(b), apply(c)])], live)).toEqual([
      'apply b: Differs',
      'apply c: Missing',
      'delete old: NotWanted',
    ]);
  });

  test('a step waits for what it needs, and nothing of it is deleted meanwhile', () => {
    const steps = [
      step('ConfigReady', [apply(config('a'))]),
      step('DeploymentReady', [apply(config('b'))], { needs: ['ConfigReady'] }),
    ];
    expect(planned(steps, liveWith([{ ...asStated(config('b')), data: {} }]))).toEqual(['apply a: Missing']);
    expect(planned(steps, liveWith([asStated(config('a'))], { done: new Set(['ConfigReady']) }))).toEqual([
      'apply b: Missing',
    ]);
  });

  test("somebody else's object is refused, and one that is going is waited for", () => {
    const foreign = { ...asStated(config('a')), metadata: { ...asStated(config('a')).metadata, ownerReferences: [] } };
    expect(planned([step('ConfigReady', [apply(config('a'))])], liveWith([foreign]))).toEqual([
      'refuse ForeignObjectError: Refused',
    ]);
    const metadata = { ...asStated(config('a')).metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(
      planned([step('ConfigReady', [apply(config('a'))])], liveWith([{ ...asStated(config('a')), metadata }])),
    ).toEqual([]);
  });

  test('an immutable field is changed by a replacement, after the volumes were expanded', () => {
    const set = (storage: string): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'ns' },
      spec: {
        replicas: 1,
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { resources: { requests: { storage } } } }],
      },
    });
    const volume = stored('v1', 'PersistentVolumeClaim', 'data-db-0', {
      spec: { resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Bound' },
    });
    const live = liveWith([asStated(set('1Gi')), volume]);
    expect(planned([step('DeploymentReady', [apply(set('2Gi'))])], live)).toEqual([
      'expand data-db-0: Differs',
      'replace db: Immutable',
    ]);
    const pending = { ...volume, status: { phase: 'Pending' } } as StoredObject;
    expect(planned([step('DeploymentReady', [apply(set('2Gi'))])], liveWith([asStated(set('2Gi')), pending]))).toEqual(
      [],
    );
    // What was refused then is asked for again; no volume shrinks.
    expect(planned([step('DeploymentReady', [apply(set('2Gi'))])], liveWith([asStated(set('2Gi')), volume]))).toEqual([
      'expand data-db-0: Differs',
    ]);
    // What is lowered stays below no claim that there is: only the annotation of what was stated changes.
    expect(planned([step('DeploymentReady', [apply(set('1Mi'))])], live)).toEqual(['apply db: Differs']);
  });
});

describe('Jobs', () => {
  const job = (inputs: string): KubeObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'sync', namespace: 'ns', annotations: { [annotations.inputs]: inputs } },
    spec: { template: { spec: {} } },
  });
  const run = (inputs: string, condition?: string, more: object = {}) =>
    stored('batch/v1', 'Job', 'sync', {
      metadata: { annotations: { [annotations.inputs]: inputs } },
      spec: { template: { spec: {} } },
      status:
        condition === undefined
          ? { active: 1 }
          : { conditions: [{ type: condition, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
      ...more,
    });
  const at = (objects: readonly StoredObject[], more: Partial<Live> = {}) =>
    planned([step('MigrationReady', [apply(job('new'))])], liveWith(objects, { now, ...more }));

  test('one runs once for each set of inputs, and never beside itself', () => {
    expect(at([])).toEqual(['run sync: Missing']);
    expect(at([], { finishedJobs: { sync: 'new' } })).toEqual([]);
    expect(at([run('new', 'Complete')])).toEqual([]);
    expect(at([run('old', 'Complete')])).toEqual(['run sync: InputsChanged']);
    expect(at([run('old')]), 'a running migration is never killed').toEqual([]);
  });

  test('one whose pod has failed is replaced until the next pod may come', () => {
    const pod = (phase: string, terminated?: object) =>
      stored('v1', 'Pod', 'sync-1', {
        metadata: {
          ownerReferences: [
            { apiVersion: 'batch/v1', kind: 'Job', name: 'sync', uid: run('old').metadata.uid, controller: true },
          ],
        },
        spec: { nodeName: 'node-1' },
        status: { phase, containerStatuses: [{ state: terminated === undefined ? { running: {} } : { terminated } }] },
      });
    const ago = (ms: number) => ({ finishedAt: timestamp({ now: () => now - ms }) });
    const failing = (failed: number, active?: number) => run('old', undefined, { status: { failed, active } });
    expect(at([failing(1), pod('Failed', ago(4000))])).toEqual(['run sync: InputsChanged']);
    expect(at([failing(1), pod('Failed', ago(6000))]), 'the next one may be on its way').toEqual([]);
    expect(at([failing(4), pod('Failed', ago(39_000))])).toEqual(['run sync: InputsChanged']);
    expect(at([failing(1, 1), pod('Failed', ago(4000))]), 'there is another one').toEqual([]);
    expect(at([failing(0), pod('Failed', ago(4000))]), 'it is not counted yet').toEqual([]);
    expect(at([failing(1), pod('Running')])).toEqual([]);
  });

  test('one that failed runs again when its back-off is over', () => {
    const failedAt = parseTimestamp('2026-01-01T00:00:00Z');
    expect(at([run('new', 'Failed')], { now: failedAt + 59_000 })).toEqual([]);
    expect(at([run('new', 'Failed')], { now: failedAt + 60_000 })).toEqual(['run sync: Failed']);
  });
});

describe('generated Secrets', () => {
  const secret = (data: Readonly<Record<string, string>> | undefined, rotatedAt?: string): StoredObject[] => {
    const notes = rotatedAt === undefined ? {} : { annotations: { [annotations.rotatedAt]: rotatedAt } };
    return data === undefined ? [] : [stored('v1', 'Secret', 'keys', { data, metadata: notes })];
  };
  const desired = (more: object = {}): Desired => ({
    verb: 'generate',
    object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: 'ns' } },
    values: { '0': { type: 'fernetKey' } },
    secretClass: 'keyMaterial',
    guards: { kind: 'Job', name: 'sync', data: 'all credentials' },
    ...more,
  });
  const at = (objects: readonly StoredObject[], one = desired(), more: Partial<Live> = {}) =>
    planned([step('CredentialsReady', [one])], liveWith(objects, { now, ...more }));

  test('one is made once, completed where a key is missing, and never made anew over data', () => {
    expect(at(secret(undefined))).toEqual(['create keys: Missing']);
    expect(at(secret({ '0': 'x' }))).toEqual([]);
    expect(at(secret({}))).toEqual(['update keys: Missing']);
    expect(at(secret({}), desired(), { finishedJobs: { sync: 'x' } })).toEqual([
      'refuse KeyMaterialMissingError: Refused',
    ]);
  });

  test('what a run has filled in is missed once a run for the same has finished', () => {
    const made = desired({ filled: ['0'], filledBy: { inputs: 'x', keys: ['1'] } });
    expect(at(secret({ '0': 'x' }), made, { finishedJobs: { sync: 'x' } })).toEqual([
      'refuse KeyMaterialMissingError: Refused',
    ]);
    expect(at(secret({ '0': 'x' }), made, { finishedJobs: { sync: 'before' } })).toEqual([]);
    expect(at(secret({ '0': 'x', '1': 'x' }), made, { finishedJobs: { sync: 'x' } })).toEqual([]);
  });

  test('keys are rotated when that is due', () => {
    const rotation = { intervalSeconds: 3600, maxActiveKeys: 3 };
    const rotatedAt = (ago: number) => timestamp({ now: () => now - ago });
    expect(at(secret({ '0': 'x' }, rotatedAt(3_599_000)), desired({ rotation }))).toEqual([]);
    expect(at(secret({ '0': 'x' }, rotatedAt(3_600_000)), desired({ rotation }))).toEqual(['update keys: RotationDue']);
  });
});

test('two claims that a node is eligible for do not both take it', () => {
  const node = (name: string) =>
    stored('v1', 'Node', name, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  const claim = (group: string): NodeClaim => ({
    verb: 'claim',
    labels: { [cloudLabel]: 'ns.m', group },
    selector: {},
    count: 1,
    cleaning: { labels: {}, daemonSet: config('cleaner') },
  });
  const { actions } = plan(
    { steps: [step('NodesReady', [claim('a'), claim('b')])], complete: true, status: {} },
    liveWith([node('n1'), node('n2')]),
  );
  expect(
    actions.map((action) => (action.verb === 'claim' ? [action.node.metadata.name, action.labels?.['group']] : [])),
  ).toEqual([
    ['n1', 'a'],
    ['n2', 'b'],
  ]);
});
