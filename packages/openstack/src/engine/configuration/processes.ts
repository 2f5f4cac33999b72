import { variableOf } from '../../oslo/references.ts';
import type { Component } from '../vocabulary/component.ts';
import type { ComponentOverrides, ServiceSpec } from '../vocabulary/surroundings.ts';

/**
 * The components with the processes and threads that users ask for: of uwsgi in the start file of the component, of other
 * programs in a variable of its pods. It goes before the file, which other components and Jobs read as well.
 */
export function withProcesses(
  components: Readonly<Record<string, Component>>,
  { components: overrides = {} }: Pick<ServiceSpec, 'components'>,
): Readonly<Record<string, Component>> {
  return Object.fromEntries(
    Object.entries(components).map(([name, component]) => [
      name,
      asked(component, overrides[component.variantOf ?? name]),
    ]),
  );
}

function asked(component: Component, { processes, threads }: ComponentOverrides = {}): Component {
  const { runs, workers, env } = component;
  const numbers = { ...(processes !== undefined && { processes }), ...(threads !== undefined && { threads }) };
  return {
    ...component,
    ...('wsgi' in runs && { runs: { ...runs, ...numbers } }),
    ...(workers !== undefined &&
      processes !== undefined && {
        env: { ...env, [variableOf(workers.section, workers.option)]: String(processes) },
      }),
  };
}
