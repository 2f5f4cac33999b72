import { Command, Option } from 'commander';
import { CommandError } from './command-error.ts';
import { demoCommand } from './demo.ts';
import { followCommand } from './follow.ts';
import { renderCommand } from './render-command.ts';
import { sandboxCommand } from './sandbox-command.ts';
import { validateCommand } from './validate.ts';

const program = new Command('kubectl openstack')
  .description('One custom resource, one OpenStack cloud: try it, read it, check it.')
  .showHelpAfterError('(--help tells more)')
  .addHelpText(
    'after',
    `
Examples:
  kubectl openstack demo                                       a cloud comes up on an embedded Kubernetes
  kubectl openstack validate -f cloud.yaml                     what is wrong with it, without a cluster
  kubectl openstack render -f cloud.yaml | less                every object that it leads to
  kubectl openstack follow my-cloud -n openstack               how far it is, in your cluster
  kubectl openstack sandbox --kubeconfig /tmp/kubeconfig       a Kubernetes to play with`,
  );

const file = () => new Option('-f, --file <file>', 'resource(s), YAML or JSON; - reads standard input');

program
  .command('demo')
  .description('bring a cloud up on an embedded Kubernetes whose OpenStack processes are simulated')
  .addOption(file())
  .addOption(
    new Option('--speed <speed>', 'real: as long as real processes take; fast: in virtual time')
      .choices(['real', 'fast'])
      .default('real'),
  )
  .option('--keep', 'go on running afterwards, and write a kubeconfig to look around with')
  .action(demoCommand);
program
  .command('follow')
  .description('show the rollout of a control plane in your cluster until it is Ready')
  .argument('<name>', 'the OpenStackControlPlane')
  .option('-n, --namespace <namespace>', "where it is (default: the context's namespace)")
  .option('--kubeconfig <path>', 'which cluster (default: as kubectl)')
  .option('--timeout <seconds>', 'give up after', '1800')
  .action(followCommand);
program
  .command('sandbox')
  .description('run an embedded Kubernetes until interrupted')
  .option('--port <port>', 'where it listens on 127.0.0.1 (default: a free port)')
  .option('--kubeconfig <path>', 'where its kubeconfig is written', 'sandbox.kubeconfig')
  .option('--operator', 'with our CRDs and the operator in it; without, a bare Kubernetes')
  .action(sandboxCommand);
program
  .command('render')
  .description('print every object that resources lead to in the end, as a YAML stream; no cluster needed')
  .addOption(file().makeOptionMandatory())
  .option('--capabilities <list>', 'optional APIs that the cluster serves, such as gateway-api', '')
  .action(renderCommand);
program
  .command('validate')
  .description('check resources as the API server would, without one; exit 1 and one line for each mistake')
  .addOption(file().makeOptionMandatory())
  .action(validateCommand);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`kubectl openstack: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
