import { DaemonSet, Deployment, Event, Job, Node, ReplicaSet, StatefulSet } from '@openstack-operator/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uniqueName } from '../conformance/server.ts';
import { controllerServer, stable, template } from './server.ts';

const { client, eventually, list, ...server } = controllerServer();
const group = uniqueName('group');

beforeAll(() => client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: group, labels: { group } } }));
afterAll(() => client.delete(Node, { name: group }));

test('the refusal of pods is an event of what would have them, and a condition of ReplicaSet and Deployment', async () => {
  const namespace = await server.namespace();
  const apiVersion = 'apps/v1';
  // Nobody makes this account: pods of it are forbidden.
  const podSpec = { serviceAccountName: 'absent', nodeSelector: { group } };
  const workload = (app: string) => ({
    metadata: { name: app, namespace },
    spec: { selector: { matchLabels: { app } }, template: template({ app }, 'example/app:1', podSpec) },
  });
  await client.create(DaemonSet, { apiVersion, kind: 'DaemonSet', ...workload('agent') });
  await client.create(Deployment, { apiVersion, kind: 'Deployment', ...workload('api') });
  const { metadata, spec } = workload('database');
  await client.create(StatefulSet, { apiVersion, kind: 'StatefulSet', metadata, spec: { ...spec, serviceName: 'x' } });
  const once = template({ app: 'task' }, 'example/app:1', { ...podSpec, restartPolicy: 'Never' as const });
  await client.create(Job, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'task', namespace },
    spec: { template: once },
  });

  const said = async () => {
    const { items } = await client.list(Event, { namespace, fieldSelector: 'reason=FailedCreate' });
    const first = new Map(items.map((event) => [event.involvedObject.kind, event]));
    return [...first]
      .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
      .map(([kind, { type, message, source }]) => [kind, type, source?.component, message]);
  };
  expect(stable(await eventually(said, ({ length }) => length === 4), namespace)).toMatchInlineSnapshot(`
    [
      [
        "DaemonSet",
        "Warning",
        "daemonset-controller",
        "Error creating: pods "agent-" is forbidden: error looking up service account <namespace>/absent: serviceaccount "absent" not found",
      ],
      [
        "Job",
        "Warning",
        "job-controller",
        "Error creating: pods "task-" is forbidden: error looking up service account <namespace>/absent: serviceaccount "absent" not found",
      ],
      [
        "ReplicaSet",
        "Warning",
        "replicaset-controller",
        "Error creating: pods "api-<hash>-" is forbidden: error looking up service account <namespace>/absent: serviceaccount "absent" not found",
      ],
      [
        "StatefulSet",
        "Warning",
        "statefulset-controller",
        "Create Pod database-0 in StatefulSet database failed error: pods "database-0" is forbidden: error looking up service account <namespace>/absent: serviceaccount "absent" not found",
      ],
    ]
  `);

  const failure = (conditions: readonly { type: string; status: string; reason?: string; message?: string }[] = []) =>
    conditions.flatMap(({ type, status, reason, message }) =>
      type === 'ReplicaFailure' ? [[status, reason, message]] : [],
    );
  const conditions = async () => [
    ...failure((await client.get(Deployment, { namespace, name: 'api' })).status?.conditions),
    ...(await list(ReplicaSet, namespace)).flatMap(({ status }) => failure(status?.conditions)),
  ];
  expect(stable(await eventually(conditions, ({ length }) => length === 2), namespace)).toMatchInlineSnapshot(`
          [
            [
              "True",
              "FailedCreate",
              "pods "api-<hash>-" is forbidden: error looking up service account <namespace>/absent: serviceaccount "absent" not found",
            ],
            [
              "True",
              "FailedCreate",
              "pods "api-<hash>-" is forbidden: error looking up service account <namespace>/absent: serviceaccount "absent" not found",
            ],
          ]
        `);

  // What tells that pods are missing.
  const counts = async () => {
    const daemons = (await client.get(DaemonSet, { namespace, name: 'agent' })).status;
    const members = (await client.get(StatefulSet, { namespace, name: 'database' })).status;
    const job = (await client.get(Job, { namespace, name: 'task' })).status;
    return {
      daemons: [daemons?.currentNumberScheduled, daemons?.desiredNumberScheduled],
      members: [members?.observedGeneration, members?.replicas],
      job: [job?.startTime !== undefined, job?.active],
    };
  };
  const settled = await eventually(counts, ({ daemons, job }) => daemons[1] === 1 && job[0] === true);
  expect(settled).toEqual({ daemons: [0, 1], members: [1, 0], job: [true, undefined] });
});
