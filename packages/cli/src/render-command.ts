import { stringify } from 'yaml';
import { checkFiles, linesOf, refuse } from './checked-file.ts';
import { CommandError } from './command-error.ts';
import { claimsOf, objectsOf, renderAll } from './render.ts';

/** What `--capabilities` may name, and the kinds that it means. */
const capabilities: Readonly<Record<string, string>> = {
  'gateway-api': 'gateway.networking.k8s.io/HTTPRoute',
  'cert-manager': 'cert-manager.io/Certificate',
};

/** `kubectl openstack render`: YAML of every object; what `validate` would refuse before it composes is refused alike. */
export function renderCommand(options: { file: readonly string[]; capabilities: string }): void {
  const asked = options.capabilities.split(',').filter((name) => name !== '');
  const unknown = asked.find((name) => !(name in capabilities));
  if (unknown !== undefined) {
    throw new CommandError(
      `--capabilities: ${unknown} is not known; known: ${Object.keys(capabilities).join(', ')}`,
      2,
    );
  }
  const checked = checkFiles(options.file);
  const lines = linesOf(checked);
  if (lines.length > 0) refuse(options.file, lines, process.stderr);
  const resources = checked.flatMap(({ sound }) => sound?.object ?? []);
  const served = new Set(asked.flatMap((name) => capabilities[name] ?? []));
  for (const { resource, composition } of renderAll(resources, served)) {
    for (const { condition, problem, remarks = [] } of composition.steps) {
      for (const remark of remarks)
        process.stderr.write(`warning: ${resource.kind} ${resource.metadata.name}: ${condition}: ${remark}\n`);
      if (problem !== undefined) {
        process.stderr.write(`${resource.kind} ${resource.metadata.name}: ${condition}: ${problem.message}\n`);
        process.exitCode = 1;
      }
    }
    const claims = claimsOf(composition).join('');
    for (const [index, object] of objectsOf(composition).entries()) {
      const above = index === 0 ? claims : '';
      process.stdout.write(`---\n${above}${stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })}`);
    }
  }
}
