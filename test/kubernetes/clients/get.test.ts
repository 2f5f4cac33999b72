import { expect } from 'vitest';
import { type Kubectl, table, test } from './cluster.ts';
import { web } from './web.ts';

async function deployed(kubectl: Kubectl): Promise<void> {
  await kubectl.with({ stdin: web })`apply -f -`;
  await kubectl`rollout status deployment/web --timeout=20s`;
}

test('tables are those of a real cluster', async ({ kubectl }) => {
  await deployed(kubectl);
  expect(table(await kubectl`get deployments`)).toEqual([
    'NAME | READY | UP-TO-DATE | AVAILABLE | AGE',
    'web | 2/2 | 2 | 2 | *',
  ]);
  expect(table(await kubectl`get pods`)).toEqual([
    'NAME | READY | STATUS | RESTARTS | AGE',
    'web-*-* | 1/1 | Running | 0 | *',
    'web-*-* | 1/1 | Running | 0 | *',
  ]);
  expect(table(await kubectl`get services`)).toEqual([
    'NAME | TYPE | CLUSTER-IP | EXTERNAL-IP | PORT(S) | AGE',
    expect.stringMatching(/^web \| ClusterIP \| 10\.96\.\d+\.\d+ \| <none> \| 80\/TCP \| \*$/),
  ]);
  expect(table(await kubectl`get nodes`)).toEqual([
    'NAME | STATUS | ROLES | AGE | VERSION',
    expect.stringMatching(/^node-1 \| Ready \| <none> \| \* \| v1\.\d+\.\d+$/),
    expect.stringMatching(/^node-2 \| Ready/),
  ]);
});

test('-o wide tells where pods run and which images', async ({ kubectl }) => {
  await deployed(kubectl);
  const [head, pod] = table(await kubectl`get pods -o wide`);
  expect(head).toBe('NAME | READY | STATUS | RESTARTS | AGE | IP | NODE | NOMINATED NODE | READINESS GATES');
  expect(pod).toMatch(/ \| 10\.244\.\d\.\d+ \| node-[12] \| <none> \| <none>$/);
  expect(table(await kubectl`get deployments -o wide`)[1]).toBe(
    'web | 2/2 | 2 | 2 | * | app | example.com/app:1 | app=web',
  );
});

test('several kinds, the category all, and -A', async ({ kubectl }) => {
  await deployed(kubectl);
  expect((await kubectl`get deployment,svc,cm -o name`).trim().split('\n')).toEqual([
    'deployment.apps/web',
    'service/web',
    'configmap/kube-root-ca.crt',
    'configmap/settings',
  ]);
  const all = await kubectl`get all`;
  for (const name of ['pod/web-', 'service/web', 'deployment.apps/web', 'replicaset.apps/web-']) {
    expect(all).toContain(name);
  }
  expect(table(await kubectl`get deployments -A`)).toContain(`${kubectl.namespace} | web | 2/2 | 2 | 2 | *`);
  expect((await kubectl.run`get statefulsets`).stderr).toBe(`No resources found in ${kubectl.namespace} namespace.\n`);
});

test('-o yaml shows the object, its managed fields only when asked', async ({ kubectl }) => {
  await deployed(kubectl);
  const yaml = await kubectl`get configmap settings -o yaml`;
  expect(yaml).toContain('data:\n  color: blue\n  size: big\nkind: ConfigMap\n');
  expect(yaml).not.toContain('managedFields');
  expect(await kubectl`get configmap settings -o yaml --show-managed-fields`).toContain(
    'manager: kubectl-client-side-apply',
  );
});

test('jsonpath, go-template, custom columns', async ({ kubectl }) => {
  await deployed(kubectl);
  expect(await kubectl`get deployment web -o jsonpath={.spec.template.spec.containers[0].image}`).toBe(
    'example.com/app:1',
  );
  const range = '{range .items[*]}{.metadata.labels.app}={.status.phase} {end}';
  expect(await kubectl`get pods -o jsonpath=${range}`).toBe('web=Running web=Running ');
  expect(await kubectl`get deployment web -o go-template={{.metadata.name}}/{{.spec.replicas}}`).toBe('web/2');
  const columns = 'custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas,NOPE:.spec.nope';
  expect(table(await kubectl`get deployments -o ${columns}`)).toEqual(['NAME | REPLICAS | NOPE', 'web | 2 | <none>']);
});

test('label and field selectors, --show-labels, -L, --sort-by', async ({ kubectl }) => {
  await deployed(kubectl);
  await kubectl`label configmap settings tier=front`;
  const names = async (selector: string) => (await kubectl`get configmaps ${selector} -o name`).trim();
  expect(await names('-l=tier=front')).toBe('configmap/settings');
  expect(await names('-l=tier in (front,back),!other')).toBe('configmap/settings');
  expect(await names('-l=tier!=front')).toBe('configmap/kube-root-ca.crt');
  expect(await names('--field-selector=metadata.name=settings')).toBe('configmap/settings');
  expect(await kubectl`get pods --field-selector=status.phase=Running,spec.nodeName=node-1 -o name`).toMatch(
    /^pod\/web-/,
  );
  expect(await kubectl.fails`get configmaps --field-selector=data.color=blue`).toContain(
    '"data.color" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
  expect(table(await kubectl`get configmap settings --show-labels`)).toEqual([
    'NAME | DATA | AGE | LABELS',
    'settings | 2 | * | tier=front',
  ]);
  expect(table(await kubectl`get configmap settings -L tier`)[1]).toBe('settings | 2 | * | front');
  const sorted = await kubectl`get configmaps --sort-by={.metadata.name} --no-headers`;
  expect(table(sorted).map((row) => row.split(' ')[0])).toEqual(['kube-root-ca.crt', 'settings']);
});

test('-w shows what changes, as it changes', async ({ kubectl }) => {
  await deployed(kubectl);
  const changedWhile = (words: { shows: string; until: string }, change: () => Promise<unknown>) => {
    let changed: Promise<unknown> | undefined;
    const until = (stdout: string) => {
      if (stdout.includes(words.shows)) changed ??= change();
      return stdout.includes(words.until);
    };
    return kubectl.with({ until, limit: 20 });
  };
  // Lists: the watch of one object swallows what happens between its read and its begin (kubectl's get.go, skipPrinter).
  const deployments = changedWhile({ shows: '2/2', until: '3/3' }, () => kubectl`scale deployment web --replicas=3`);
  const rows = table(await deployments`get deployments -w`);
  expect(rows[0]).toBe('NAME | READY | UP-TO-DATE | AVAILABLE | AGE');
  expect(rows.at(-1)).toBe('web | 3/3 | 3 | 3 | *');
  const configMaps = changedWhile({ shows: 'settings', until: 'DELETED' }, async () => {
    await kubectl`annotate configmap settings seen=yes`;
    await kubectl`delete configmap settings`;
  });
  const events = table(await configMaps`get configmaps -w --output-watch-events`);
  expect(events.at(-1)).toBe('DELETED | settings | 2 | *');
});

test('long lists come whole, page by page', async ({ cluster, kubectl }) => {
  const client = cluster.sandbox.client();
  const kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
  for (let number = 0; number < 25; number++) {
    const metadata = { name: `page-${number}`, namespace: kubectl.namespace };
    await client.create(kind, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  }
  expect((await kubectl`get configmaps --chunk-size=10 -o name`).trim().split('\n')).toHaveLength(26);
});

test('what is not there is said in the words of a real cluster', async ({ kubectl }) => {
  expect(await kubectl.fails`get pod nope`).toBe('Error from server (NotFound): pods "nope" not found');
  expect(await kubectl.fails`get widgets`).toBe('error: the server doesn\'t have a resource type "widgets"');
});
