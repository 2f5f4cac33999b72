import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { program } from '../kubernetes.ts';
import { ours } from '../pods.ts';
import { until } from '../until.ts';
import { chaos } from './cloud.ts';
import { mayLogIn, ready } from './health.ts';
import { type Chaos, printRecoveries, recovers } from './recovery.ts';

let cloud: Chaos;
beforeAll(async () => {
  cloud = await chaos();
}, 900_000);
afterAll(printRecoveries);

interface Secret {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly data: Readonly<Record<string, string>>;
}

async function secrets(suffix: string): Promise<Secret[]> {
  const text = await program('kubectl', 'get', 'secrets', '--all-namespaces', '-l', ours, '-o', 'json');
  return (JSON.parse(text) as { items: Secret[] }).items.filter(({ metadata }) => metadata.name.endsWith(suffix));
}

async function remove({ metadata: { namespace, name } }: Secret): Promise<void> {
  await program('kubectl', 'delete', 'secret', '-n', namespace, name);
}

/** Deletes Secrets, and waits until each is there anew. */
async function lose(suffix: string): Promise<Secret[]> {
  const before = await secrets(suffix);
  if (before.length === 0) throw new Error(`the cloud has no Secret whose name ends in ${suffix}`);
  await Promise.all(before.map(remove));
  const isNew = (now: readonly Secret[]) =>
    before.every(({ metadata: { name, uid } }) =>
      now.some(({ metadata }) => metadata.name === name && metadata.uid !== uid),
    );
  return await until({
    what: `the Secrets ${before.map(({ metadata }) => metadata.name).join(', ')} to be made anew`,
    seconds: 600,
    probe: async () => {
      const now = await secrets(suffix);
      return isNew(now) ? now : undefined;
    },
  });
}

describe('credentials are issued anew', () => {
  test.each([
    // Made from others.
    '-config',
    '-config-files',
    '-create',
    '-cache-key',
    '-metadata-secret',
    '-service-password',
    '-mq-password',
    '-db-password',
    '-mariadb-root-password',
    '-rabbitmq-credentials',
    '-rabbitmq-erlang-cookie',
    // Tokens end with it; whoever has a password gets another.
    '-fernet-keys',
  ])('all Secrets ...%s', (suffix) =>
    recovers(`all Secrets ...${suffix} deleted`, { ...cloud, happen: () => lose(suffix), within: 300 }),
  );

  test("the administrator's password", async () => {
    const [old] = await secrets('-admin-password');
    if (old === undefined) throw new Error("the cloud has no Secret with the administrator's password");
    const [now] = await lose('-admin-password');
    const password = Buffer.from(now?.data['password'] ?? '', 'base64').toString();
    await until({
      what: 'the new password to be that of the administrator',
      seconds: 600,
      probe: async () => ((await mayLogIn('admin', password)) ? true : undefined),
    });
    await ready(600);
    // Whoever wants the old one back says so in the Secret.
    await recovers("the administrator's password put back", {
      ...cloud,
      happen: async () => {
        const { namespace, name } = old.metadata;
        const patch = JSON.stringify({ data: old.data });
        await program('kubectl', 'patch', 'secret', '-n', namespace, name, '--type=merge', '-p', patch);
        const before = Buffer.from(old.data['password'] ?? '', 'base64').toString();
        await until({
          what: "the administrator's old password to be the present one",
          seconds: 600,
          probe: async () => ((await mayLogIn('admin', before)) ? true : undefined),
        });
      },
      within: 300,
    });
  });
});

describe('key material', () => {
  test('is never made anew while its data exist: a condition names what to restore', async () => {
    const [old] = await secrets('-credential-keys');
    if (old === undefined) throw new Error('the cloud has no Secret with credential keys');
    await recovers('credential keys deleted, and restored', {
      ...cloud,
      happen: async () => {
        await remove(old);
        const message = await until({
          what: 'a condition that names the lost Secret',
          seconds: 120,
          probe: () => keyMaterialMissing(),
        });
        expect(message).toContain(`Secret ${old.metadata.name} is gone`);
        expect(await secrets('-credential-keys')).toEqual([]);
        const { apiVersion, kind, data, metadata } = old;
        const { name, namespace, labels } = metadata;
        const restored = JSON.stringify({ apiVersion, kind, data, metadata: { name, namespace, labels } });
        await program('bash', '-c', 'kubectl create -f - <<< "$1"', 'bash', restored);
      },
      within: 300,
    });
    expect((await secrets('-credential-keys'))[0]?.data).toEqual(old.data);
  });
});

async function keyMaterialMissing(): Promise<string | undefined> {
  const text = await program('kubectl', 'get', 'keystones.openstack.k8s.io', '--all-namespaces', '-o', 'json');
  const { items } = JSON.parse(text) as {
    items: { status: { conditions: { type: string; reason: string; message: string }[] } }[];
  };
  const conditions = items.flatMap(({ status }) => status.conditions);
  return conditions.find(({ type, reason }) => type === 'Ready' && reason === 'KeyMaterialMissing')?.message;
}
