import type { Tolerations } from '../../api/scheduling.ts';
import { nearest } from '../../options/nearest.ts';
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
  return [['spec', spec] as const, ...components].flatMap(([path, { resources, ...scheduling }]) => [
    ...resourceMistakes(resources, `${path}.resources`),
    ...schedulingMistakes(scheduling, path),
  ]);
}

/** The same of where pods may run; `path` is that of what says it. */
export function schedulingMistakes(
  { nodeSelector, tolerations }: Pick<ComponentOverrides, 'nodeSelector' | 'tolerations'>,
  path: string,
): string[] {
  return [
    ...labelMistakes(nodeSelector, `${path}.nodeSelector`),
    ...tolerationMistakes(tolerations, `${path}.tolerations`),
  ];
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
  const unknown = Object.keys({ ...requests, ...limits })
    .filter((name) => !resourceNames.includes(name) && !isDomainPrefixed.test(name) && !name.startsWith('hugepages-'))
    .map((name) => {
      const near = nearest(name, resourceNames);
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      const kind = Object.hasOwn(requests, name) ? 'requests' : 'limits';
      return `${path}.${kind}.${name}: no container has such a resource: expected ${resourceNames.join(', ')}, hugepages-<size>, or a name with a domain, such as example.com/device${hint}`;
    });
  return [...parts, ...above, ...unknown];
}

/** What a container may ask for (core/v1, `IsStandardContainerResourceName`). */
const resourceNames = ['cpu', 'memory', 'ephemeral-storage'];
const isDomainPrefixed = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/./u;

/** What an API server says of tolerations of pods (validation of core/v1, `ValidateTolerations`). */
function tolerationMistakes(tolerations: readonly unknown[] = [], path: string): string[] {
  return (tolerations as NonNullable<Tolerations>).flatMap(
    ({ key = '', operator = 'Equal', value = '', effect, tolerationSeconds }, index) => {
      const at = `${path}[${index}]`;
      if (key === '' && operator !== 'Exists')
        return [
          `${at}: without a key only operator Exists is allowed, which tolerates every taint; set one of the two`,
        ];
      if (operator === 'Exists' && value !== '')
        return [`${at}.value: operator Exists compares no value; remove it, or set operator Equal`];
      if (tolerationSeconds !== undefined && effect !== 'NoExecute')
        return [`${at}.tolerationSeconds: is for effect NoExecute alone; set that effect, or remove the field`];
      return labelMistakes(key === '' ? {} : { [key]: value }, at);
    },
  );
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
