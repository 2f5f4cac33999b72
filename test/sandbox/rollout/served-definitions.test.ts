import { CustomResourceDefinition, createHealth } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly } from './cloud.ts';

interface Definition {
  versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } } }[];
}
const name = 'keystones.openstack.k8s.io';

test('an operator waits for the definitions of its version, says which one is another, and goes on by itself', async () => {
  const cloud = await createCloud();
  const client = cloud.rehearsal.sandbox.client();
  const definition = await cloud.settle(client.get(CustomResourceDefinition, { name }));
  const older = structuredClone(definition);
  const { versions } = older.spec as unknown as Definition;
  // As an earlier version had it: a field less.
  delete versions[0]?.schema.openAPIV3Schema.properties.spec.properties['imageTag'];
  const { resourceVersion } = (await cloud.settle(client.replace(CustomResourceDefinition, older))).metadata;

  const health = createHealth();
  const starting = cloud.rehearsal.startOperator({ health });
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.clock.advance(120_000);
  expect(cloud.get('OpenStackControlPlane', 'my-cloud')?.status).toBeUndefined();
  const problem = await health.ready.get('definitions')?.();
  expect(problem).toContain(`of another version than this operator: ${name}`);
  expect(problem).toContain('kubectl apply --server-side -k config/crd');

  const metadata = { ...definition.metadata, resourceVersion };
  await cloud.settle(client.replace(CustomResourceDefinition, { ...definition, metadata }));
  await cloud.settle(starting);
  expect(await health.ready.get('definitions')?.()).toBeUndefined();
  await cloud.ready();
});
