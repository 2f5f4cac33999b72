import { expect, test } from 'vitest';
import { readyCloud } from './cloud.ts';

test('no generated value stands anywhere but in Secrets: objects, events, status, logs', async () => {
  const { cloud } = await readyCloud();
  const secrets = cloud.list('Secret').filter(({ metadata }) => metadata.namespace === 'openstack');
  const values = secrets.flatMap((secret) =>
    Object.entries((secret['data'] ?? {}) as Record<string, string>)
      // Names of users are no secrets.
      .filter(([key]) => key !== 'username')
      .map(([key, value]) => ({
        where: `${secret.metadata.name}/${key}`,
        value: Buffer.from(value, 'base64').toString(),
      })),
  );
  const generated = values.filter(({ value }) => value.length >= 16 && !value.includes('\n'));
  expect(generated.length).toBeGreaterThan(10);
  const texts = cloud.rehearsal
    .objects()
    .filter(({ kind }) => kind !== 'Secret')
    .map((object) => ({ where: `${object.kind} ${object.metadata.name}`, text: JSON.stringify(object) }));
  for (const pod of cloud.list('Pod')) {
    const { containers = [], initContainers = [] } = pod['spec'] as {
      containers?: { name: string }[];
      initContainers?: { name: string }[];
    };
    for (const { name } of [...initContainers, ...containers]) {
      const log = cloud.rehearsal.sandbox.pods.logs(
        { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name },
        { container: name },
      );
      texts.push({ where: `log of ${pod.metadata.name}/${name}`, text: log });
    }
  }
  const leaks = generated.flatMap(({ where, value }) =>
    texts
      .filter(({ text }) => text.includes(value) || text.includes(encodeURIComponent(value)))
      .map((text) => `${where} in ${text.where}`),
  );
  expect(leaks).toEqual([]);
});
