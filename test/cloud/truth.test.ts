import { realClock, timestamp } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { program } from './kubernetes.ts';
import { inNode } from './node.ts';
import { type Container, containers, execute, logs } from './pods.ts';
import { allowed, linesOf, unlisted } from './truth/allowed.ts';
import {
  optionMistakes,
  runningPrograms,
  upgradeFindings,
  validatorMistakes,
  withUpgradeCheck,
} from './truth/checks.ts';
import { secretValues } from './truth/secrets.ts';

const running = await containers();
const find = (service: string, component: string): Container => {
  const found = running.find((one) => one.service === service && one.component === component);
  if (found === undefined) throw new Error(`no pod of ${service} ${component} runs`);
  return found;
};
const configured = runningPrograms(running);

test.each(configured)(
  '$name: every option of its files and its environment is one of its own, and of its type',
  async (one) => {
    expect(await optionMistakes(one)).toEqual([]);
  },
);

test.each(configured)('$name: oslo-config-validator accepts its files', async (one) => {
  expect(await validatorMistakes(one)).toEqual([]);
});

test.each(withUpgradeCheck(configured))('$service: its upgrade check is content', async (one) => {
  expect(await upgradeFindings(one)).toEqual([]);
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
