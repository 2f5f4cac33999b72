import { Command, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { demoCommand } from './demo.ts';
import { followCommand } from './follow.ts';
import { renderCommand } from './render-command.ts';
import { sandboxCommand } from './sandbox-command.ts';
import { validateCommand } from './validate.ts';

/** The command line: every command with its options. `parseAsync` runs it. */
export const program = new Command('kubectl openstack')
  .description(
    `Tries, checks and shows OpenStack clouds that are made from custom resources.

Exits with 0 when all is well; with 1 when resources have mistakes, are missing or do not become Ready; with 2 when the call is wrong, its input cannot be read, or anything else fails.`,
  )
  .version(manifest.version, '--version', 'print the version')
  // Commander itself ends with 1 whatever is wrong with the call.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .showHelpAfterError('(--help tells more)')
  .addHelpText(
    'after',
    `
Examples:
  # Bring up a cloud on an embedded Kubernetes
  kubectl openstack demo

  # Check a resource without a cluster
  kubectl openstack validate -f cloud.yaml

  # Print every object that the operator would create
  kubectl openstack render -f cloud.yaml

  # Watch the rollout of a control plane in your cluster
  kubectl openstack follow my-cloud -n openstack

  # Start an embedded Kubernetes
  kubectl openstack sandbox --kubeconfig /tmp/kubeconfig`,
  );

const file = () =>
  new Option(
    '-f, --file <file>',
    'file with resources in YAML or JSON; - reads standard input; may be given several times',
  ).argParser((path: string, before: readonly string[] | undefined) => [...(before ?? []), path]);

program
  .command('demo')
  .description('Bring up a cloud on an embedded Kubernetes with simulated OpenStack processes.')
  .addOption(file())
  .addOption(
    new Option('--speed <speed>', 'real: processes take as long as real ones; fast: in virtual time')
      .choices(['real', 'fast'])
      .default('real'),
  )
  .option('--keep', 'keep running afterwards, and write a kubeconfig')
  .action(demoCommand);
program
  .command('follow')
  .description('Watch the rollout of a control plane in your cluster until it is Ready.')
  .argument('<name>', 'name of the OpenStackControlPlane')
  .option('-n, --namespace <namespace>', 'namespace of the control plane (default: that of the context)')
  .option('--kubeconfig <path>', 'path to the kubeconfig (default: as kubectl)')
  .option('--timeout <seconds>', 'seconds after which to give up', '1800')
  .action(followCommand);
program
  .command('sandbox')
  .description('Run an embedded Kubernetes until interrupted.')
  .option('--port <port>', 'port on 127.0.0.1 (default: a free port)')
  .option('--kubeconfig <path>', 'path of the kubeconfig that is written', 'sandbox.kubeconfig')
  .option('--operator', 'install the CRDs and run the operator (default: a bare Kubernetes)')
  .action(sandboxCommand);
program
  .command('render')
  .description('Print every object that the operator would create for resources, as YAML. No cluster is needed.')
  .addOption(file().makeOptionMandatory())
  .option(
    '--capabilities <list>',
    'optional APIs that the cluster serves, separated by commas, such as gateway-api,cert-manager',
    '',
  )
  .action(renderCommand);
program
  .command('validate')
  .description(
    'Check resources as the API server and the operator would. Prints a line for each mistake, and exits with 1.',
  )
  .addOption(file().makeOptionMandatory())
  .action(validateCommand);
