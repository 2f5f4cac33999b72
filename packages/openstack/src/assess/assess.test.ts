import { keyOf, parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import { describe, expect, test } from 'vitest';
import { annotations, cloudLabel, computeLabel, nodeGroupLabel } from '../engine/names/names.ts';
import type { Desired, Step } from '../engine/vocabulary/step.ts';
import { Keystone } from '../services/keystone/kind.ts';
import { assess, assessAll } from './assess.ts';
import { podsOf } from './pods-of.ts';

const stored = (kind: string, name: string, more: object = {}): StoredObject => ({
  apiVersion: kind === 'Job' ? 'batch/v1' : kind === 'Secret' ? 'v1' : 'apps/v1',
  kind,
  ...more,
  metadata: {
    name,
    namespace: 'ns',
    uid: name,
    resourceVersion: '1',
    generation: 2,
    ...(more as { metadata?: object }).metadata,
  },
});

const step = (object: StoredObject, more: Partial<Step> = {}): Step => ({
  condition: 'DeploymentReady',
  needs: [],
  awaits: [],
  objects: [{ verb: 'apply', object: object }],
  ...more,
});

const blank = {
  pods: () => [],
  eventWords: () => undefined,
  nodes: [],
  finishedJobs: {},
  now: parseTimestamp('2026-01-01T00:10:00Z'),
  met: new Set<string>(),
};

function verdict(
  desired: StoredObject,
  live: StoredObject | undefined,
  world: Partial<Parameters<typeof assess>[1]> = {},
) {
  const { status, reason, message } = assess(step(desired), {
    observe: (kind, { name }) => (live?.kind === kind.kind && live.metadata.name === name ? live : undefined),
    ...blank,
    ...world,
  });
  return [status, reason, message];
}

const template = { metadata: { labels: { 'app.kubernetes.io/name': 'x' } } };

test('a pod whose node is not Ready, or that finds none of its labels, says so', () => {
  const spec = { template: { ...template, spec: { nodeSelector: { disk: 'ssd' } } } };
  const live = stored('Deployment', 'api', { spec, status: { observedGeneration: 2, updatedReplicas: 1 } });
  const node = (status: string) => ({
    ...stored('Node', 'node-1', { status: { conditions: [{ type: 'Ready', status, message: 'Kubelet stopped.' }] } }),
    apiVersion: 'v1',
  });
  const words = (pod: object, status = 'True') => {
    const observe = (kind: { kind: string }) => (kind.kind === 'Node' ? node(status) : live);
    return verdict(live, live, { observe, pods: () => [stored('Pod', 'api-1', pod)] })[2];
  };
  const cutOff = 'Deployment api: 0 of 1 pods are ready; pod api-1: its node node-1 is not Ready: Kubelet stopped.';
  expect(words({ spec: { nodeName: 'node-1' } }, 'Unknown')).toBe(cutOff);
  // What a container has said is of the time before.
  const ended = { name: 'api', restartCount: 1, state: { terminated: { exitCode: 143 } } };
  const before = { spec: { nodeName: 'node-1' }, status: { containerStatuses: [ended] } };
  expect(words(before)).toContain('container api ended with 143');
  expect(words(before, 'Unknown')).toBe(cutOff);
  expect(words({ spec: { nodeName: 'node-1' } })).toBe('Deployment api: 0 of 1 pods are ready');
  const message = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
  const conditions = [{ type: 'PodScheduled', status: 'False', message }];
  expect(words({ status: { conditions } })).toContain(`pod api-1: it needs a node with disk=ssd: ${message}`);
});

test('pods are looked for by few labels, however many a user adds to the template', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`x${index}`, 'x']));
  const labels = { ...many, 'app.kubernetes.io/name': 'x' };
  const live = stored('Deployment', 'api', { spec: { template: { metadata: { labels } } } });
  const asked: object[] = [];
  const pods = (_namespace: string, by: object) => {
    asked.push(by);
    return [];
  };
  podsOf(live, { pods } as never);
  expect(asked.at(0)).toEqual({ 'app.kubernetes.io/name': 'x' });
});

describe('workloads', () => {
  const done = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
  test.each<[string, object | undefined, string, string]>([
    ['not there', undefined, 'Missing', 'Deployment api is to be created'],
    ['not seen yet', { observedGeneration: 1 }, 'RollingOut', 'Deployment api: rollout has not begun'],
    ['half new', { ...done, updatedReplicas: 1 }, 'RollingOut', 'Deployment api: 1 of 2 pods are new'],
    [
      'old pods left',
      { ...done, replicas: 3, availableReplicas: 3 },
      'RollingOut',
      'Deployment api: 1 old pod is being removed',
    ],
    [
      'old pods that serve for new ones',
      { ...done, replicas: 4 },
      'RollingOut',
      'Deployment api: not all new pods are available; 2 old pods are kept until then',
    ],
    ['not available', { ...done, availableReplicas: 1 }, 'NotAvailable', 'Deployment api: 1 of 2 pods are ready'],
    ['done', done, 'Done', ''],
  ])('a Deployment that is %s', (_title, status, reason, message) => {
    const spec = { replicas: 2, template };
    const live = status === undefined ? undefined : stored('Deployment', 'api', { spec, status });
    expect(verdict(stored('Deployment', 'api', { spec }), live)).toEqual([
      reason === 'Done' ? 'True' : 'False',
      reason,
      message,
    ]);
  });

  test.each<[string, object, string]>([
    [
      'failed',
      { lastState: { terminated: { exitCode: 1, message: 'first\nAccess denied for user\n' } } },
      '; pod api-0: container api ended with 1: Access denied for user',
    ],
    [
      'ended well, and was started again',
      { state: { running: {} }, lastState: { terminated: { exitCode: 0 } } },
      '; pod api-0: container api ended with 0: its log says why',
    ],
    ['is done', { state: { terminated: { exitCode: 0 } } }, ''],
  ])('the message ends with the last words of a container that %s', (_title, container, words) => {
    const spec = { replicas: 1, template };
    const live = stored('Deployment', 'api', {
      spec,
      status: { ...done, replicas: 1, updatedReplicas: 1, availableReplicas: 0 },
    });
    const pod = stored('Pod', 'api-0', {
      status: { containerStatuses: [{ name: 'api', ready: false, ...container }] },
    });
    expect(verdict(live, live, { pods: () => [pod] })[2]).toBe(`Deployment api: 0 of 1 pods are ready${words}`);
  });

  test('what is wrong with the new pod comes before what becomes of the old one', () => {
    const spec = { replicas: 1, template };
    const status = { ...done, updatedReplicas: 1, availableReplicas: 1 };
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    const pod = stored('Pod', 'api-1', {
      status: { containerStatuses: [{ name: 'api', ready: false, state: { waiting } }] },
    });
    const live = stored('Deployment', 'api', { spec, status });
    expect(verdict(live, live, { pods: () => [pod] })[2]).toBe(
      'Deployment api: the new pod is not available; pod api-1: container api: ImagePullBackOff: no such image; 1 old pod is kept until then',
    );
  });

  test.each<[string, object, string]>([
    [
      'not ready',
      { observedGeneration: 2, readyReplicas: 0, updatedReplicas: 1 },
      'StatefulSet db: 0 of 1 pods are ready',
    ],
    ['not new', { observedGeneration: 2, readyReplicas: 1, updatedReplicas: 0 }, 'StatefulSet db: 0 of 1 pods are new'],
    ['done', { observedGeneration: 2, readyReplicas: 1, updatedReplicas: 1 }, ''],
  ])('a StatefulSet that is %s', (_title, status, message) => {
    const live = stored('StatefulSet', 'db', { spec: { replicas: 1, template }, status });
    expect(verdict(live, live)[2]).toBe(message);
  });
});

describe('node agents are judged by the nodes that they are for', () => {
  const nodeSelector = { [cloudLabel]: 'c', [nodeGroupLabel]: 'a' };
  const live = stored('DaemonSet', 'agent', {
    spec: { template: { ...template, spec: { nodeSelector } } },
    status: { observedGeneration: 2, desiredNumberScheduled: 2, numberReady: 2 },
  });
  const node = (name: string, group: string) =>
    stored('Node', name, { metadata: { labels: { [cloudLabel]: 'c', [nodeGroupLabel]: group } } });
  const readyNode = (name: string, group: string, status = 'True') => ({
    ...node(name, group),
    status: { conditions: [{ type: 'Ready', status, message: 'Kubelet stopped posting node status.' }] },
  });
  const pod = (nodeName: string, ready: boolean, since = '2026-01-01T00:09:00Z', more: object = {}) =>
    stored('Pod', `agent-${nodeName}`, {
      spec: { nodeName },
      status: {
        conditions: [
          { type: 'Ready', status: String(ready).replace(/^./, (c) => c.toUpperCase()), lastTransitionTime: since },
        ],
        ...more,
      },
    });
  const world = (nodes: StoredObject[], pods: StoredObject[], met: string[] = []) => ({
    nodes,
    pods: () => pods,
    met: new Set(met),
  });
  const [one, two] = [readyNode('node-1', 'a'), readyNode('node-2', 'a')];
  const long = '2026-01-01T00:01:00Z';
  test.each<[string, ReturnType<typeof world>, string, string, string]>([
    ['no node, none wanted', world([], []), 'True', 'Done', ''],
    ['only nodes of another group', world([readyNode('node-1', 'b')], []), 'True', 'Done', ''],
    [
      'a node without its pod yet',
      world([one], []),
      'False',
      'RollingOut',
      'agents are up on 0 of 1 nodes; node-1: no pod of DaemonSet agent yet',
    ],
    [
      'one of two is starting for the first time',
      world([one, two], [pod('node-1', true), pod('node-2', false)]),
      'False',
      'NotAvailable',
      'agents are up on 1 of 2 nodes; node-2: pod agent-node-2: not ready',
    ],
    [
      'one of two starts later',
      world([one, two], [pod('node-1', true), pod('node-2', false)], ['DeploymentReady']),
      'True',
      'Done',
      '',
    ],
    [
      'one of two has not come up for long',
      world([one, two], [pod('node-1', true), pod('node-2', false, long)]),
      'True',
      'Degraded',
      'agents are up on 1 of 2 nodes; node-2: pod agent-node-2: not ready',
    ],
    [
      'the node of one is off',
      world([one, readyNode('node-2', 'a', 'Unknown')], [pod('node-1', true), pod('node-2', false)]),
      'True',
      'Degraded',
      'agents are up on 1 of 2 nodes; node-2: the node is not Ready: Kubelet stopped posting node status.',
    ],
    [
      'the only one has not come up for long',
      world([one], [pod('node-1', false, long)]),
      'False',
      'NotAvailable',
      'agents are up on 0 of 1 nodes; node-1: pod agent-node-1: not ready',
    ],
    ['all are ready', world([one, two], [pod('node-1', true), pod('node-2', true)]), 'True', 'Done', ''],
  ])('%s', (_title, view, ...expected) => {
    expect(verdict(live, live, view)).toEqual(expected);
  });

  test('one that is starting is looked at again when it is given up on', () => {
    const view = { ...blank, ...world([one, two], [pod('node-1', true), pod('node-2', false)]) };
    expect(assess(step(live), { ...view, observe: () => live }).requeueAfter).toBe(240_000);
  });

  test('a pod whose volume cannot be mounted says why, which its status does not', () => {
    const words = 'MountVolume.SetUp failed for volume "lib-modules" : /lib/modules is not a directory';
    const waiting = { containerStatuses: [{ name: 'agent', state: { waiting: { reason: 'ContainerCreating' } } }] };
    const view = { ...world([one], [pod('node-1', false, long, waiting)]), eventWords: () => words };
    expect(verdict(live, live, view)[2]).toBe(`agents are up on 0 of 1 nodes; node-1: pod agent-node-1: ${words}`);
  });

  test('nodes whose pod is refused are down, told together, and hold back none of the others', () => {
    const eventWords = () =>
      '(combined from similar events): Error creating: pods "agent-x2x2x" is forbidden: exceeded quota';
    const said = 'DaemonSet agent: its pods are refused: exceeded quota';
    const none = verdict(live, live, { ...world([one, two], []), eventWords });
    expect(none).toEqual(['False', 'NotAvailable', `agents are up on 0 of 2 nodes; node-1, node-2: ${said}`]);
    const some = verdict(live, live, { ...world([one, two], [pod('node-1', true)]), eventWords });
    expect(some).toEqual(['True', 'Degraded', `agents are up on 1 of 2 nodes; node-2: ${said}`]);
  });

  describe('of an older revision', () => {
    const hash = 'controller-revision-hash';
    const revision = (number: number) => ({
      ...stored('ControllerRevision', `agent-${number}`, { metadata: { labels: { [hash]: `${number}` } } }),
      revision: number,
    });
    const of = (number: number, name: string, marks: Record<string, string> = {}) => {
      const { metadata, ...rest } = pod(name, true);
      return { ...rest, metadata: { ...metadata, labels: { [hash]: `${number}` }, annotations: marks } };
    };
    const withPods = (...pods: StoredObject[]) => ({
      ...world([one, two], pods),
      controlled: (kind: string) => (kind === 'Pod' ? pods : [revision(2), revision(1)]),
    });
    const said = (count: number) => `DaemonSet agent: of an older revision on ${count} of 2 nodes`;
    const wayOut = 'annotate the resource with openstack.k8s.io/roll-node-agents=true to have them replaced one by one';
    const resource = stored('Nova', 'nova', { metadata: { annotations: { [annotations.rollNodeAgents]: 'true' } } });
    const asked = { moment: { now: blank.now, resource } };

    test('a change that is not in force is told as degraded: nobody replaces them unasked', () => {
      const view = withPods(of(1, 'node-1'), of(2, 'node-2'));
      expect(verdict(live, live, view)).toEqual(['True', 'Degraded', `${said(1)}; ${wayOut}`]);
    });

    test('those that the operator was asked to replace need nobody, nor do those that go', () => {
      const view = withPods(of(1, 'node-1'), of(2, 'node-2'));
      expect(verdict(live, live, { ...view, ...asked })).toEqual(['True', 'Done', `${said(1)}, being replaced`]);
      const { metadata, ...rest } = of(1, 'node-2');
      const going = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:09:00Z' } };
      const gone = withPods(of(2, 'node-1'), of(2, 'node-2'), going);
      expect(verdict(live, live, gone)).toEqual(['True', 'Done', `${said(1)}, being replaced`]);
    });

    test('those whose credentials nobody accepts any more need nobody; the others wait', () => {
      const { spec } = live as unknown as { spec: { template: { metadata: object } } };
      const fresh = { [annotations.credentials]: 'new' };
      const metadata = { ...spec.template.metadata, annotations: fresh };
      const renewed = { ...live, spec: { ...spec, template: { ...spec.template, metadata } } };
      const all = withPods(of(1, 'node-1'), of(1, 'node-2'));
      expect(verdict(renewed, renewed, all)).toEqual(['True', 'Done', `${said(2)}, being replaced`]);
      const mixed = ['True', 'Degraded', `${said(1)}, being replaced; ${said(1)}; ${wayOut}`];
      expect(verdict(renewed, renewed, withPods(of(1, 'node-1'), of(1, 'node-2', fresh)))).toEqual(mixed);
    });

    test('keep a rollout from its end, whoever is to replace them', () => {
      const view = { ...blank, ...withPods(of(1, 'node-1'), of(2, 'node-2')), observe: () => live };
      for (const more of [{}, asked]) expect(assess(step(live), { ...view, ...more }).outdated).toBe(true);
    });
  });
});

describe('Jobs', () => {
  const job = (inputs: string, conditions: object[] = []) =>
    stored('Job', 'sync', {
      metadata: { annotations: { [annotations.inputs]: inputs } },
      spec: { template },
      status: { conditions },
    });
  test.each<[string, StoredObject | undefined, Record<string, string>, string, string]>([
    ['not there', undefined, {}, 'Missing', 'Job sync is to be run'],
    ['finished once, and gone', undefined, { sync: 'new' }, 'Done', ''],
    ['finished with other inputs, and gone', undefined, { sync: 'old' }, 'Missing', 'Job sync is to be run'],
    [
      'there with other inputs',
      job('old', [{ type: 'Complete', status: 'True' }]),
      {},
      'Updating',
      'Job sync is to be run again',
    ],
    ['running', job('new'), {}, 'JobRunning', 'Job sync is running'],
    ['complete', job('new', [{ type: 'Complete', status: 'True' }]), {}, 'Done', ''],
    [
      'failed',
      job('new', [{ type: 'Failed', status: 'True', message: 'Job has reached the specified backoff limit' }]),
      {},
      'JobFailed',
      'Job sync failed: Job has reached the specified backoff limit',
    ],
  ])('a Job that is %s', (_title, live, finishedJobs, reason, message) => {
    expect(verdict(job('new'), live, { finishedJobs })).toEqual([
      reason === 'Done' ? 'True' : 'False',
      reason,
      message,
    ]);
    // Nothing waits for one that is aside: it is told what it is at.
    const aside = step(job('new'), { objects: [{ verb: 'apply', object: job('new'), aside: true }] });
    expect(assess(aside, { ...blank, finishedJobs, observe: () => live })).toMatchObject({
      status: 'True',
      reason: 'Done',
      message,
    });
  });
});

test('what has served already holds nothing up where its pods are not ready, and is told; while it is changed it is waited for', () => {
  const set = (more: object) =>
    stored('StatefulSet', 'disks', { spec: { replicas: 1 }, status: { observedGeneration: 2, ...more } });
  const about = (live: StoredObject) =>
    assess(step(set({}), { objects: [{ verb: 'apply', object: set({}), mostAway: 1 }] }), {
      ...blank,
      observe: () => live,
    });
  expect(about(set({ readyReplicas: 0, updatedReplicas: 1 }))).toMatchObject({
    status: 'True',
    reason: 'Degraded',
    message: 'StatefulSet disks: 0 of 1 pods are ready',
  });
  expect(about(set({ readyReplicas: 1, updatedReplicas: 0 }))).toMatchObject({ status: 'False', reason: 'RollingOut' });
});

test('of those that have served, no more may be away in all steps than can be done without', () => {
  const away = (name: string) =>
    stored('StatefulSet', name, {
      spec: { replicas: 1 },
      status: { observedGeneration: 2, readyReplicas: 0, updatedReplicas: 1 },
    });
  const steps = ['One', 'Two'].map((condition) =>
    step(away(condition), {
      condition,
      objects: [{ verb: 'apply', object: away(condition), mostAway: 1 }],
    }),
  );
  const world = { ...blank, observe: () => away('One') };
  expect(assessAll(steps.slice(0, 1), world)).toMatchObject([{ status: 'True', reason: 'Degraded' }]);
  expect(assessAll(steps, world)).toMatchObject([
    { status: 'False', reason: 'NotAvailable' },
    { status: 'False', reason: 'NotAvailable' },
  ]);
});

describe('steps', () => {
  const world = { ...blank, observe: () => undefined };
  const config = stored('Secret', 'config');

  test('a step waits for what it needs, and says for what that one waits', () => {
    const steps = [step(config, { condition: 'ConfigReady' }), step(config, { needs: ['ConfigReady'] })];
    expect(assessAll(steps, world).map(({ condition, reason, message }) => [condition, reason, message])).toEqual([
      ['ConfigReady', 'Missing', 'Secret config is to be created'],
      ['DeploymentReady', 'Waiting', expect.stringContaining('ConfigReady')],
    ]);
  });

  test('a step that may not begin says which resource it waits for, in words that stay while that is not Ready', () => {
    const awaits = [{ kind: Keystone, namespace: 'ns', name: 'keystone' }];
    expect(assess(step(config, { awaits }), world).message).toBe('waiting for Keystone keystone, which does not exist');
    const live = stored('Keystone', 'keystone', {
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'JobRunning', message: 'Job x is running' }] },
    });
    const observe: typeof world.observe = ((kind: { kind: string }) =>
      kind.kind === 'Keystone' ? live : undefined) as never;
    expect(assess(step(config, { awaits }), { ...world, observe }).message).toBe(
      'waiting for Keystone keystone, which is not Ready (JobRunning)',
    );
  });

  test.each([
    ['as it was composed with', { generation: 3 }, 'True', ''],
    ['changed since', { generation: 4 }, 'False', 'Keystone keystone has not reconciled with generation 4 of MariaDB'],
    ['made anew', { generation: 1 }, 'False', 'Keystone keystone has not reconciled with generation 1 of MariaDB'],
    ['gone', undefined, 'True', ''],
  ])('a resource is Ready with what it refers to: %s', (_how, metadata, status, words) => {
    const apiVersion = 'openstack.k8s.io/v1alpha1';
    const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', observedGeneration: 2 };
    const references = { databaseRef: { name: 'mariadb', generation: 3 }, fooRef: { name: 'foo', generation: 1 } };
    const keystone = stored('Keystone', 'keystone', {
      apiVersion,
      spec: {},
      status: { conditions: [ready], references },
    });
    const mariadb = metadata && stored('MariaDB', 'mariadb', { apiVersion, metadata });
    const observe: typeof world.observe = ((kind: { kind: string }) =>
      [keystone, mariadb].find((one) => one?.kind === kind.kind)) as never;
    const progress = assess(step(keystone), { ...world, observe });
    expect(progress).toMatchObject({ status, message: expect.stringContaining(words) });
  });

  test('paths in what a child says are those of its own spec: it is said whose', () => {
    const apiVersion = 'openstack.k8s.io/v1alpha1';
    const told = (status: string, message: string) => {
      const ready = { type: 'Ready', status, reason: 'ConfigRefused', message, observedGeneration: 2 };
      const child = stored('Keystone', 'c-keystone', { apiVersion, status: { conditions: [ready] } });
      const objects = [{ verb: 'apply', object: child, specFrom: 'spec.keystone' }] as const;
      return assess(step(child, { objects }), { ...world, observe: () => child }).message;
    };
    const words = 'spec.config["keystone.conf"].x: unknown';
    expect(told('False', words)).toBe(`Keystone c-keystone: ${words}`);
    expect(told('True', words)).toBe(`Keystone c-keystone: ${words}`);
    expect(told('False', 'Job x is running')).toBe('Job x is running');
  });

  test('a problem is said, a skipped step is done', () => {
    const problem = { reason: 'ConfigRefused' as const, message: 'spec.x: wrong' };
    expect(assess(step(config, { problem }), world)).toMatchObject({ status: 'False', ...problem });
    expect(assess(step(config, { skipped: problem }), world)).toMatchObject({ status: 'True', ...problem });
  });

  test('a step that is skipped, and that nothing exists of, has no condition', () => {
    const words = { reason: 'Disabled', message: 'spec.x is absent' } as const;
    const steps = [step(config, { skipped: { ...words, of: config, untold: true } })];
    const observe = () => config;
    expect(assessAll(steps, world)).toEqual([]);
    expect(assessAll(steps, { ...world, observe, ours: () => false })).toEqual([]);
    const told = [step(config, { skipped: { ...words, of: config } })];
    expect(assessAll(told, world)).toEqual([{ condition: 'DeploymentReady', status: 'True', ...words }]);
  });

  test('a step that is skipped is not done as long as there is what it would make', () => {
    const words = { reason: 'Disabled', message: 'spec.x is absent' } as const;
    const observe = () => config;
    for (const untold of [{}, { untold: true }] as const) {
      const steps = [step(config, { skipped: { ...words, of: config, ...untold } })];
      expect(assessAll(steps, { ...world, observe })).toEqual([
        {
          condition: 'DeploymentReady',
          status: 'False',
          reason: 'Progressing',
          message: `spec.x is absent: ${config.kind} ${config.metadata.name} is to be deleted`,
        },
      ]);
    }
  });

  test('a resource that has not reckoned with what its control plane wants is not done, whatever it says', () => {
    const object = {
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'Nova',
      metadata: { name: 'nova', namespace: 'ns' },
    };
    const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
    const health = (peers: readonly string[] | undefined) => {
      const live = stored('Nova', 'nova', { ...object, status: { conditions: [ready], ...(peers && { peers }) } });
      const objects: Desired[] = [{ verb: 'apply', object, peers: ['Cinder'] }];
      const { status, message } = assess({ ...step(config), objects }, { ...world, observe: () => live });
      return [status, message];
    };
    expect(health(['Cinder'])).toEqual(['True', '']);
    expect(health([])).toEqual(['False', 'Nova nova has not reconciled with Cinder yet']);
    expect(health(['Barbican', 'Cinder'])).toEqual(['False', 'Nova nova has not reconciled without Barbican yet']);
    expect(health(undefined)).toEqual(['True', '']);
  });

  test('a generated Secret is whole when every key is there', () => {
    const desired: Desired = {
      verb: 'generate',
      object: config,
      values: { a: { type: 'password', length: 8 }, b: { type: 'password', length: 8 } },
      secretClass: 'credential',
    };
    const live = stored('Secret', 'config', { data: { a: 'eA==', b: '' } });
    const one = { ...step(config), objects: [desired] };
    expect(assess(one, { ...world, observe: () => live }).message).toBe('Secret config: key b is to be generated');
    expect(keyOf(live)).toBe('ns/config');
  });

  test('a certificate that nobody can sign names the Secret that is to sign it', () => {
    const signedBy = { certificate: 'ca.crt', key: 'ca.key', secret: 'authority' };
    const certificate = {
      type: 'certificate',
      key: 'tls.key',
      commonName: 'a',
      seconds: 90 * 86_400,
      signedBy,
    } as const;
    const desired: Desired = {
      verb: 'generate',
      object: config,
      values: { 'tls.key': { type: 'privateKey' }, 'tls.crt': certificate },
      secretClass: 'credential',
    };
    const one = { ...step(config), objects: [desired] };
    expect(assess(one, { ...world, observe: () => undefined }).message).toBe(
      'Secret config is to be created: Secret authority has no ca.crt with the private key that belongs to it (ca.key)',
    );
  });

  test('claims count the nodes that carry their labels: one too few holds back nothing, none at all does', () => {
    const claim = (group: string, count: number, more: object = {}): Desired => ({
      verb: 'claim',
      labels: { [cloudLabel]: 'c', [nodeGroupLabel]: group, ...more },
      selector: {},
      count,
      cleaning: { labels: {}, daemonSet: config },
    });
    const claims = (...objects: Desired[]) => ({ ...step(config), objects });
    const node = stored('Node', 'node-1', { metadata: { labels: { [cloudLabel]: 'c', [nodeGroupLabel]: 'a' } } });
    const nodes = [node];
    expect(assess(claims(claim('a', 2)), { ...world, nodes })).toMatchObject({
      status: 'True',
      reason: 'Degraded',
      message: expect.stringContaining('1 of 2 nodes of group a are claimed; a node is eligible when'),
    });
    expect(assess(claims(claim('a', 1), claim('b', 1)), { ...world, nodes }).status).toBe('True');
    expect(assess(claims(claim('b', 1)), { ...world, nodes: [] })).toMatchObject({
      status: 'False',
      reason: 'NoNodes',
    });
    expect(assess(claims(claim('b', 1)), { ...world, nodes })).toMatchObject({
      status: 'True',
      reason: 'Degraded',
      message: expect.stringContaining('node-1 (a); their agents are not changed'),
    });
    const guests = claim('b', 1, { [computeLabel]: 'true' });
    expect(assess(claims(claim('a', 1), guests), { ...world, nodes }), 'none runs guests').toMatchObject({
      reason: 'NoNodes',
    });
    expect(assess(claims(claim('b', 0)), world).reason).toBe('Done');
  });
});

describe('causes', () => {
  const pod = (name: string, message: string) =>
    stored('Pod', name, {
      status: { containerStatuses: [{ name: 'api', ready: false, state: { terminated: { exitCode: 1, message } } }] },
    });
  const spec = { replicas: 2, template };
  const status = { observedGeneration: 2, updatedReplicas: 2, replicas: 2, availableReplicas: 0 };
  const api = stored('Deployment', 'api', { spec, status });
  const worker = stored('Deployment', 'worker', { spec, status: { ...status, availableReplicas: 2 } });
  const config = stored('Secret', 'config');

  test('everything that a step waits for is a cause, down to each pod; the message tells of the first', () => {
    const two = step(api, { objects: [api, worker, config].map((object) => ({ verb: 'apply', object })) });
    const { message, causes } = assess(two, {
      ...blank,
      observe: (_kind, { name }) => [api, worker].find(({ metadata }) => metadata.name === name),
      pods: () => [pod('api-1', 'no route to host'), pod('api-2', 'killed')],
    });
    expect(message).toBe(
      'Deployment api: 0 of 2 pods are ready; pod api-1: container api ended with 1: no route to host',
    );
    expect(causes).toMatchObject([
      {
        object: { kind: 'Deployment', namespace: 'ns', name: 'api' },
        reason: 'NotAvailable',
        message: 'Deployment api: 0 of 2 pods are ready',
        causes: [
          { object: { kind: 'Pod', name: 'api-1' }, message: 'container api ended with 1: no route to host' },
          { object: { kind: 'Pod', name: 'api-2' }, message: 'container api ended with 1: killed' },
        ],
      },
      { object: { kind: 'Secret', name: 'config' }, reason: 'Missing', causes: [] },
    ]);
  });

  test('a step that is held back has the step before it as its cause, with the causes of that', () => {
    const steps = [step(config, { condition: 'ConfigReady' }), step(api, { needs: ['ConfigReady'] })];
    const [, held] = assessAll(steps, { ...blank, observe: () => undefined });
    expect(held?.causes).toMatchObject([
      { condition: 'ConfigReady', causes: [{ object: { kind: 'Secret', name: 'config' } }] },
    ]);
  });

  test('what is done has none', () => {
    expect(assess(step(worker), { ...blank, observe: () => worker })).not.toHaveProperty('causes');
  });
});
