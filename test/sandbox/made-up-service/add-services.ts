import { registerHooks } from 'node:module';

const here = new URL('../../../packages/openstack/src/', import.meta.url);
const list = new URL('services/index.ts', here).href;

/**
 * Lets the list of services have more in this process: those that modules export, `[module, name]` each. All else that
 * knows of services follows from the list. To be called before anything imports it.
 */
export function addServices(...more: readonly (readonly [module: string, name: string])[]): void {
  const imports = more.map(([module, name]) => `import { ${name} } from '${new URL(module, import.meta.url).href}';\n`);
  const longer = `import { definitions } from '${list}?known';
import { linked } from '${new URL('engine/vocabulary/linked.ts', here).href}';
${imports.join('')}
export const services = linked([...definitions, ${more.map(([, name]) => name).join(', ')}]);
`;
  registerHooks({
    load: (url, context, next) =>
      url === list ? { format: 'module', source: longer, shortCircuit: true } : next(url, context),
  });
}
