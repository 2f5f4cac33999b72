import { expect } from 'vitest';
import { test } from './cluster.ts';
import { web } from './web.ts';

const changed = web.replace('{ color: blue, size: big }', '{ color: red }');

test('client-side apply creates, leaves alone, changes, and removes what is no longer said', async ({ kubectl }) => {
  expect(await kubectl.with({ stdin: web })`apply -f -`).toBe(
    'deployment.apps/web created\nservice/web created\nconfigmap/settings created\n',
  );
  await kubectl`patch configmap settings -p ${'{"data":{"foreign":"kept"}}'}`;
  expect(await kubectl.with({ stdin: web })`apply -f -`).toBe(
    'deployment.apps/web unchanged\nservice/web unchanged\nconfigmap/settings unchanged\n',
  );
  expect(await kubectl.with({ stdin: changed })`apply -f -`).toContain('configmap/settings configured');
  expect(JSON.parse(await kubectl`get configmap settings -o jsonpath={.data}`)).toEqual({
    color: 'red',
    foreign: 'kept',
  });
  expect(await kubectl`apply view-last-applied configmap settings`).toContain('color: red');
});

test('server-side apply names the other manager and the fields, and takes them when forced', async ({ kubectl }) => {
  const ours = kubectl.with({ stdin: web });
  expect(await ours`apply --server-side -f -`).toContain('deployment.apps/web serverside-applied');
  await kubectl`scale deployment web --replicas=1`;
  const refused = await ours.fails`apply --server-side -f -`;
  expect(refused).toContain('Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale"');
  expect(refused).toContain('.spec.replicas');
  expect(await ours`apply --server-side --force-conflicts -f -`).toContain('deployment.apps/web serverside-applied');
  expect(await kubectl`get deployment web -o jsonpath={.spec.replicas}`).toBe('2');
});

test('server-side apply removes what its manager stated before, and nothing else', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply --server-side --field-manager=one -f -`;
  const more = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { weight: heavy }\n';
  await kubectl.with({ stdin: more })`apply --server-side --field-manager=two -f -`;
  await kubectl.with({ stdin: changed })`apply --server-side --field-manager=one -f -`;
  expect(JSON.parse(await kubectl`get configmap settings -o jsonpath={.data}`)).toEqual({
    color: 'red',
    weight: 'heavy',
  });
});

test('one may change from client-side to server-side apply and back', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl.with({ stdin: changed })`apply --server-side -f -`;
  expect(await kubectl`get configmap settings -o jsonpath={.data}`).toBe('{"color":"red"}');
  expect(await kubectl`apply view-last-applied configmap settings`).not.toContain('size');
  expect(await kubectl.with({ stdin: web })`apply -f -`).toContain('configmap/settings configured');
  expect(JSON.parse(await kubectl`get configmap settings -o jsonpath={.data}`)).toEqual({ color: 'blue', size: 'big' });
});

test('diff shows the lines that would change, and changes nothing', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  for (const flags of [[], ['--server-side', '--force-conflicts']]) {
    const { stdout, code } = await kubectl.with({ stdin: changed }).run`diff ${flags} -f -`;
    expect(code).toBe(1);
    expect(stdout).toMatch(/^- {2}color: blue$/m);
    expect(stdout).toMatch(/^\+ {2}color: red$/m);
    expect(stdout).not.toMatch(/^[-+] {2}replicas/m);
  }
  expect(await kubectl`get configmap settings -o jsonpath={.data.color}`).toBe('blue');
});

test('--dry-run=server answers as if, and stores nothing', async ({ kubectl }) => {
  expect(await kubectl.with({ stdin: web })`apply --dry-run=server -f -`).toContain('created (server dry run)');
  expect(await kubectl.fails`get deployment web`).toContain('NotFound');
});

test('apply --prune deletes what is no longer in the set', async ({ kubectl }) => {
  const one = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, labels: { set: a } }\n---\n`;
  await kubectl.with({ stdin: one('first') + one('second') })`apply -f -`;
  const pruned = await kubectl.with({
    stdin: one('first'),
  })`apply --prune -l set=a --prune-allowlist=core/v1/ConfigMap -f -`;
  expect(pruned).toContain('configmap/second pruned');
  expect(await kubectl`get configmaps -l set=a -o name`).toBe('configmap/first\n');
});

test('unknown fields are refused by name, or are a warning when asked so', async ({ kubectl }) => {
  const wrong = web.replace('replicas: 2', 'replicsa: 2');
  expect(await kubectl.with({ stdin: wrong }).fails`apply -f -`).toContain(
    'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.replicsa"',
  );
  const { stderr, code } = await kubectl.with({ stdin: wrong }).run`apply --validate=warn -f -`;
  expect([code, stderr]).toEqual([0, 'Warning: unknown field "spec.replicsa"\n']);
  expect(await kubectl.with({ stdin: web.replace('replicas: 2', 'replicas: two') }).fails`apply -f -`).toContain(
    'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  );
  expect(await kubectl.with({ stdin: web.replace('replicas: 2', 'replicas: -1') }).fails`apply -f -`).toContain(
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  );
});
