import * as cluster from '../../packages/sandbox/src/resources/builtin/cluster.ts';
import * as configuration from '../../packages/sandbox/src/resources/builtin/configuration.ts';
import type { ResourceType } from '../../packages/sandbox/src/resources/resource-type.ts';

const isType = (value: unknown): value is ResourceType =>
  typeof value === 'object' && value !== null && 'prepareForCreate' in value;
const more: ResourceType[] = [];
for (const name of ['apps', 'batch', 'networking', 'policy', 'pod', 'rbac', 'events', 'storage']) {
  try {
    more.push(...Object.values(await import(`../../packages/sandbox/src/resources/builtin/${name}.ts`)).filter(isType));
  } catch (error) {
    console.error(String(error).slice(0, 200));
  }
}
export const builtinTypes: ResourceType[] = [
  ...[cluster, configuration].flatMap((module) => Object.values(module).filter(isType)),
  ...more,
];
