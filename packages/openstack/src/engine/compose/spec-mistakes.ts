import { amountOf } from '../names/quantity.ts';
import type { ComponentOverrides, ServiceSpec } from '../vocabulary/surroundings.ts';

/**
 * What of a spec Kubernetes would refuse, or take for something else than was meant, and an API server cannot tell of a
 * custom resource: paths with words.
 */
export function specMistakes(spec: ServiceSpec): string[] {
  const components = Object.entries(spec.components ?? {}).map(
    ([name, overrides]): readonly [string, ComponentOverrides] => [`spec.components.${name}`, overrides],
  );
  return [['spec', spec] as const, ...components].flatMap(([path, { resources, nodeSelector }]) => [
    ...resourceMistakes(resources, `${path}.resources`),
    ...labelMistakes(nodeSelector, `${path}.nodeSelector`),
  ]);
}

type Quantities = Readonly<Record<string, string | number>>;

function resourceMistakes(resources: unknown, path: string): string[] {
  const { requests = {}, limits = {} } = (resources ?? {}) as { requests?: Quantities; limits?: Quantities };
  const parts = Object.entries({ requests, limits }).flatMap(([kind, quantities]) =>
    Object.entries(quantities).flatMap(([name, quantity]) => {
      const [, number] = /^(\d+)m$/u.exec(String(quantity)) ?? [];
      return name === 'cpu' || number === undefined
        ? []
        : [
            `${path}.${kind}.${name}: ${quantity} is ${number} thousandths of a byte; write ${number}Mi for 2^20 bytes each, or ${number}M for 10^6`,
          ];
    }),
  );
  const above = Object.entries(requests).flatMap(([name, request]) => {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    return (amountOf(request) ?? 0) > (amountOf(limit) ?? Infinity)
      ? [`${path}.requests.${name}: ${request} is more than the limit of ${limit}: lower it, or raise the limit`]
      : [];
  });
  return [...parts, ...above];
}

const labelName = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/u;
const labelPrefix = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/u;

/** What keeps labels from being found on any node: they are none. */
export function labelMistakes(labels: Readonly<Record<string, string>> = {}, path: string): string[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const slash = key.indexOf('/');
    const isKey = labelName.test(key.slice(slash + 1)) && (slash < 0 || labelPrefix.test(key.slice(0, slash)));
    const at = `${path}[${JSON.stringify(key.slice(0, longestShown))}]`;
    return [
      ...(isKey
        ? []
        : [
            `${at}: no label has such a name: expected up to 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends, and a domain and '/' before it if need be`,
          ]),
      ...(value === '' || labelName.test(value)
        ? []
        : [
            `${at}: no label has the value ${JSON.stringify(value)}: expected up to 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends`,
          ]),
    ];
  });
}

/** Characters of a label's name that a message shows. */
const longestShown = 100;
