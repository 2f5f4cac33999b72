import { group } from '@openstack-operator/openstack';
import { stringify } from 'yaml';
import { CommandError } from './command-error.ts';
import { readResources } from './read-resources.ts';
import { claimsOf, objectsOf, renderAll } from './render.ts';

/** What `--capabilities` may name, and the kinds that it means. */
const capabilities: Readonly<Record<string, string>> = { 'gateway-api': `gateway.networking.k8s.io/HTTPRoute` };

/** `kubectl openstack render`. */
export function renderCommand(options: { file: string; capabilities: string }): void {
  const asked = options.capabilities.split(',').filter((name) => name !== '');
  const unknown = asked.find((name) => !(name in capabilities));
  if (unknown !== undefined) {
    throw new CommandError(
      `--capabilities: ${unknown} is not known; known: ${Object.keys(capabilities).join(', ')}`,
      2,
    );
  }
  const resources = readResources(options.file).filter(({ apiVersion }) => apiVersion.startsWith(`${group}/`));
  if (resources.length === 0) throw new CommandError(`${options.file} has no resource of ${group}`);
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
