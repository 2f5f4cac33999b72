import { parseArgs } from 'node:util';
import { readFailures } from './failure.ts';
import { provokeAll } from './provoke-all.ts';
import { embeddedStage, realStage } from './stages.ts';

const help = `usage: node test/sandbox/failures/main.ts [options]

Provokes the failures of failures.yaml and shows what the programs said: what a condition would say of them, and the end
of their logs. For whoever adds a failure, or looks into one.

  --only TEXT   failures whose name has this pattern
  --real        on the cloud that KUBECONFIG leads to (default: on the embedded one)
  --lines N     lines of the log (default 6)
  --seconds N   how long a program may take to fail (default 300)
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    real: { type: 'boolean', default: false },
    lines: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '300' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(help);
else await main();

async function main(): Promise<void> {
  const { stage, run, stop } = values.real ? await realStage() : await embeddedStage();
  const chosen = readFailures().filter(({ what }) => new RegExp(values.only).test(what));
  for (const { what, seen, outcome } of await run(() => provokeAll(stage, chosen, Number(values.seconds)))) {
    const { how, exitCode = '', says } = seen;
    const log = (text: string) => process.stdout.write(`${text}\n`);
    log(`\n# ${what}: ${how} ${exitCode} after ${outcome?.seconds} s`);
    if (outcome?.words) log(`  condition: ${outcome.words}`);
    const said = outcome?.said ?? says;
    for (const line of said.split('\n').slice(-Number(values.lines))) log(`  | ${line}`);
  }
  stop();
}
