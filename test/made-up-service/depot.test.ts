import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';

interface Pod {
  readonly name: string;
  readonly spec: Record<string, unknown> & { readonly containers: readonly Record<string, unknown>[] };
  readonly status: { readonly podIP: string; readonly hostIP: string };
}

let depot: { readonly pods: readonly Pod[]; readonly deployment: Record<string, unknown> };

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [new URL('run-depot.ts', import.meta.url).pathname]);
  depot = JSON.parse(stdout);
}, 60_000);

const podOf = (component: string) => {
  const pod = depot.pods.find(({ name }) => name.startsWith(`depot-${component}-`));
  if (pod === undefined) throw new Error(`no pod of ${component}`);
  return pod;
};

test('a Deployment has the network of its node, and nothing else of it', () => {
  const { spec, status } = podOf('gate');
  expect(status.podIP).toBe(status.hostIP);
  expect(spec).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
  expect(spec['securityContext']).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(spec.containers).toMatchObject([
    {
      ports: [{ hostPort: 6900, protocol: 'UDP' }],
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ]);
  // The old pod has the port of the node.
  expect(depot.deployment).toMatchObject({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } });
});

test('a StatefulSet has the capabilities, the IPC and the paths of its node that it names', () => {
  const { spec } = podOf('volume');
  expect(spec).toMatchObject({ hostNetwork: true, hostIPC: true });
  expect(spec['hostPID']).toBeUndefined();
  expect(spec['volumes']).toContainEqual(
    expect.objectContaining({ hostPath: { path: '/run/lock/iscsi', type: 'DirectoryOrCreate' } }),
  );
  expect(spec.containers).toMatchObject([
    { securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } } },
  ]);
});
