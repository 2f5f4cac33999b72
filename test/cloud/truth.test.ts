import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { realClock, timestamp } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { program } from './kubernetes.ts';
import { inNode } from './node.ts';
import { type Container, containers, execute, logs } from './pods.ts';
import { allowed, linesOf, unlisted } from './truth/allowed.ts';
import { programs } from './truth/programs.ts';
import { secretValues } from './truth/secrets.ts';

const here = join(import.meta.dirname, 'truth');
const script = readFileSync(join(here, 'options.py'), 'utf8');

const running = await containers();
const find = (service: string, component: string): Container => {
  const found = running.find((one) => one.service === service && one.component === component);
  if (found === undefined) throw new Error(`no pod of ${service} ${component} runs`);
  return found;
};

const configured = programs.flatMap(({ components, ...rest }) =>
  components.map((component) => ({ name: `${rest.service} ${component}`, component, ...rest })),
);

test.each(configured)(
  '$name: every option of its files and its environment is one of its own, and of its type',
  async ({ service, component, files, namespaces }) => {
    const command = ['python3', '-W', 'ignore', '-', namespaces.join(','), ...files];
    const { code, stdout, stderr } = await execute(find(service, component), command, script);
    expect({ code, problems: unlisted(linesOf(stdout), allowed.options) }, stderr).toEqual({ code: 0, problems: [] });
  },
);

test.each(configured)('$name: oslo-config-validator accepts its files', async (one) => {
  const { service, component, files, namespaces, dynamicGroups = [] } = one;
  const options = [
    ...namespaces.flatMap((name) => ['--namespace', name]),
    ...dynamicGroups.flatMap((name) => ['--exclude-group', name]),
  ];
  for (const file of files) {
    const ended = await execute(find(service, component), ['oslo-config-validator', ...options, '--input-file', file]);
    expect(ended.code, `${file}: ${ended.stderr}`).toBe(0);
  }
});

const neutronFiles = (programs.find(({ components }) => components.includes('server'))?.files ?? []).flatMap((file) => [
  '--config-file',
  file,
]);

test.each([
  ['keystone', 'api', ['keystone-status', 'upgrade', 'check']],
  ['glance', 'api', ['glance-status', 'upgrade', 'check']],
  ['placement', 'api', ['placement-status', 'upgrade', 'check']],
  ['neutron', 'server', ['neutron-status', ...neutronFiles, 'upgrade', 'check']],
  ['nova', 'conductor', ['nova-status', 'upgrade', 'check']],
])('%s: its upgrade check is content', async (service, component, command) => {
  const { code, stdout, stderr } = await execute(find(service, component), command);
  // Cells of the table that the check prints: what it looked at, and the result of it.
  const results = [...stdout.matchAll(/\| Check: (.*?) +\|\n\| Result: (\w+) +\|(?:\n\| Details: (.*?) +\|)?/g)];
  const lines = results.filter(([, , result]) => result !== 'Success').map(([, ...words]) => words.join(': '));
  expect(results.length, stdout + stderr).toBeGreaterThan(0);
  expect([0, 1], stdout + stderr).toContain(code);
  expect(unlisted(lines, allowed.checks)).toEqual([]);
});

test('no secret stands in a command line, in the mapping of the cells, or in a log', async () => {
  const values = await secretValues();
  expect(values.size).toBeGreaterThan(20);
  const places = new Map<string, string>();
  for (const one of [...running, ...(await containers('Succeeded'))]) {
    places.set(`log of ${one.pod}/${one.name}`, await logs(one));
  }
  const script = "for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $file 2> /dev/null; echo; done";
  places.set('command lines', await inNode('sh', '-c', script));
  const query = 'SELECT * FROM nova_api.cell_mappings';
  const login = 'MYSQL_PWD=$(cat /etc/openstack/root/password) exec mariadb --user=root';
  const cells = await execute(find('mariadb', 'server'), ['bash', '-c', `${login} -e '${query}'`]);
  expect(cells.stdout).toContain('cell1');
  places.set('cell_mappings', cells.stdout);
  const found = [...places].flatMap(([place, text]) =>
    [...values].filter(([, value]) => text.includes(value)).map(([name]) => `${name} stands in ${place}`),
  );
  expect(found).toEqual([]);
});

/** First lines of warnings and errors, as oslo.log, Open vSwitch, MariaDB, RabbitMQ and Python write them. */
const warning =
  /\b(WARNING|ERROR|CRITICAL) [\w.]+ \[(?!instance)|\|(WARN|ERR|EMER)\||\[(Warning|ERROR|warning|error)\]|^(Exception ignored .*)?Traceback/;

/** Until when a run of this suite has looked at the logs: a warning of then fails that run, and no later one. */
const lookedUntil = 'acceptance/logs-seen-until';

test('what the programs warn of is known', async () => {
  const [namespace] = new Set(running.map((one) => one.namespace));
  if (namespace === undefined) throw new Error('no container of the cloud runs');
  const path = `jsonpath={.metadata.annotations.${lookedUntil}}`;
  const since = (await program('kubectl', 'get', 'namespace', namespace, '-o', path)) || undefined;
  const now = timestamp(realClock);
  const surprises: string[] = [];
  for (const one of running) {
    // Python tells of what it ignores in the line before, and where it was in the line after; others write in between.
    const text = (await logs(one, since))
      .replaceAll(/^(Exception ignored .*)\n(?=Traceback)/gm, '$1 ')
      .replaceAll(/^(.*Traceback .*)\n(?= +File )/gm, '$1 ');
    const lines = linesOf(text).filter((line) => warning.test(line));
    surprises.push(...unlisted(lines, allowed.logs).map((line) => `${one.service} ${one.component}: ${line}`));
  }
  await program('kubectl', 'annotate', 'namespace', namespace, '--overwrite', `${lookedUntil}=${now}`);
  expect(surprises).toEqual([]);
});
