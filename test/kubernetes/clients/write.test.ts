import { expect } from 'vitest';
import { test } from './cluster.ts';
import { web } from './web.ts';

test('create makes an object once', async ({ kubectl }) => {
  expect(await kubectl.with({ stdin: web })`create -f -`).toContain('deployment.apps/web created');
  expect(await kubectl.with({ stdin: web }).fails`create -f -`).toContain(
    'Error from server (AlreadyExists): error when creating "STDIN": deployments.apps "web" already exists',
  );
});

test('the generators of create, which send protobuf', async ({ kubectl }) => {
  const created: string[] = [];
  for (const line of [
    'namespace made-here',
    'configmap literal --from-literal=color=blue',
    'secret generic password --from-literal=password=s3cret',
    'serviceaccount robot',
    'role reader --verb=get,list --resource=pods --resource-name=one',
    'rolebinding reader --role=reader --serviceaccount=default:robot',
    'deployment app --image=example.com/app:1 --replicas=2 --port=8080',
    'service clusterip app --tcp=80:8080',
    'ingress app --rule=example.org/=app:80',
    'job hello --image=example.com/app:1 -- once hello',
    'cronjob tick --image=example.com/app:1 --schedule=@hourly -- once tick',
    'poddisruptionbudget app --selector=app=app --max-unavailable=50%',
    'priorityclass vital --value=1000',
  ]) {
    created.push((await kubectl`create ${line.split(' ')}`).trim());
  }
  expect(created.every((line) => line.endsWith(' created'))).toBe(true);
  expect(await kubectl`get configmap literal -o jsonpath={.data}`).toBe('{"color":"blue"}');
  expect(await kubectl`get secret password -o jsonpath={.data.password}`).toBe(btoa('s3cret'));
  expect(await kubectl`get role reader -o jsonpath={.rules}`).toBe(
    '[{"apiGroups":[""],"resourceNames":["one"],"resources":["pods"],"verbs":["get","list"]}]',
  );
  expect(await kubectl`get deployment app -o jsonpath={.spec.replicas}/{.spec.template.spec.containers[0].ports}`).toBe(
    '2/[{"containerPort":8080,"protocol":"TCP"}]',
  );
  expect(await kubectl`get pdb app -o jsonpath={.spec.maxUnavailable}`).toBe('50%');
  expect(await kubectl`get service app -o jsonpath={.spec.ports[0].targetPort}`).toBe('8080');
  await kubectl`wait --for=condition=Complete job/hello --timeout=20s`;
  expect(await kubectl`logs job/hello`).toBe('hello\n');
  await kubectl`create job now --from=cronjob/tick`;
  await kubectl`wait --for=condition=Complete job/now --timeout=20s`;
});

test('patches: strategic merges lists by key, merge replaces them, json does what it says', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  const containers = async () =>
    JSON.parse(await kubectl`get deployment web -o jsonpath={.spec.template.spec.containers}`) as {
      name: string;
      image: string;
      env?: unknown[];
    }[];
  const extra = { spec: { template: { spec: { containers: [{ name: 'app', env: [{ name: 'A', value: '1' }] }] } } } };
  expect(await kubectl`patch deployment web -p ${JSON.stringify(extra)}`).toBe('deployment.apps/web patched\n');
  expect(await containers()).toMatchObject([{ name: 'app', image: 'example.com/app:1', env: [{ name: 'A' }] }]);
  expect(await kubectl`patch deployment web -p ${JSON.stringify(extra)}`).toBe(
    'deployment.apps/web patched (no change)\n',
  );
  const whole = { spec: { template: { spec: { containers: [{ name: 'only', image: 'example.com/app:9' }] } } } };
  await kubectl`patch deployment web --type=merge -p ${JSON.stringify(whole)}`;
  expect((await containers()).map(({ name, env }) => [name, env])).toEqual([['only', undefined]]);
  const test = [
    { op: 'test', path: '/data/color', value: 'blue' },
    { op: 'move', from: '/data/color', path: '/data/paint' },
  ];
  await kubectl`patch configmap settings --type=json -p ${JSON.stringify(test)}`;
  expect(JSON.parse(await kubectl`get configmap settings -o jsonpath={.data}`)).toEqual({ paint: 'blue', size: 'big' });
  expect(await kubectl.fails`patch configmap settings --type=json -p ${JSON.stringify(test)}`).toContain('is invalid');
});

test('replace needs the version that it has seen', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  const seen = await kubectl`get configmap settings -o yaml`;
  await kubectl`annotate configmap settings touched=yes`;
  expect(await kubectl.with({ stdin: seen }).fails`replace -f -`).toContain(
    'Operation cannot be fulfilled on configmaps "settings": the object has been modified',
  );
  const fresh = (await kubectl`get configmap settings -o yaml`).replace('color: blue', 'color: green');
  expect(await kubectl.with({ stdin: fresh })`replace -f -`).toBe('configmap/settings replaced\n');
});

test('edit, with an editor that replaces a word', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  const editor = kubectl.with({ environment: { KUBE_EDITOR: 'sed -i s/blue/yellow/' } });
  expect(await editor`edit configmap settings`).toBe('configmap/settings edited\n');
  expect(await kubectl`get configmap settings -o jsonpath={.data.color}`).toBe('yellow');
});

test('label and annotate', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  expect(await kubectl`label configmap settings tier=front`).toBe('configmap/settings labeled\n');
  expect(await kubectl.fails`label configmap settings tier=back`).toContain(
    "'tier' already has a value (front), and --overwrite is false",
  );
  await kubectl`label configmap settings tier=back --overwrite`;
  expect(await kubectl`label configmap settings tier-`).toBe('configmap/settings unlabeled\n');
  await kubectl`annotate configmap settings ${'note=<a> & "b"'}`;
  expect(await kubectl`get configmap settings -o jsonpath={.metadata.annotations.note}`).toBe('<a> & "b"');
});

test('what may not change is refused with the field', async ({ kubectl }) => {
  await kubectl.with({ stdin: web })`apply -f -`;
  const selector = JSON.stringify({ spec: { selector: { matchLabels: { app: 'other' } } } });
  const refused = await kubectl.fails`patch deployment web -p ${selector}`;
  expect(refused).toContain('The Deployment "web" is invalid');
  expect(refused).toContain('field is immutable');
  await kubectl`patch configmap settings -p ${'{"immutable":true}'}`;
  expect(await kubectl.fails`patch configmap settings -p ${'{"data":{"color":"red"}}'}`).toContain(
    'data: Forbidden: field is immutable when `immutable` is set',
  );
});
