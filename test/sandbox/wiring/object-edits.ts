import type { KubeObject } from '@openstack-operator/kube';
import { type Path, shown, type TreeEdit } from './text-edits.ts';
import { appended, type Edit, otherValue, partEdits, valueEdits } from './value-edits.ts';

/** Which fields of an object wire something to something, by their path with `[]` for every index, and what can be wrong there. */
const rules: readonly { at: RegExp; edits: (value: unknown) => readonly Change[] }[] = [
  { at: /\.(port|targetPort|containerPort|hostPort)$/, edits: other },
  { at: /\.(secretRef|secretKeyRef|configMapKeyRef|configMap|\w+Ref)\.(name|key)$/, edits: other },
  { at: /\.(secretName|claimName|serviceName)$/, edits: other },
  {
    at: /\.(containers|initContainers)\[\]\.image$/,
    edits: (value) => [to(String(value).replace(/(?=:[^/]*$)/, 'x'))],
  },
  { at: /\.volumeMounts\[\]$/, edits: leftOut },
  { at: /\.volumeMounts\[\]\.(mountPath|subPath)$/, edits: other },
  { at: /\.volumeMounts\[\]\.mountPropagation$/, edits: leftOut },
  { at: /\.hostPath\.path$/, edits: other },
  { at: /\.(command|args)\[\]$/, edits: argument },
  { at: /\.env\[\]$/, edits: leftOut },
  { at: /\.env\[\]\.value$/, edits: (value) => valueEdits(String(value)).map(ofText) },
  { at: /\.env\[\]\.valueFrom\.fieldRef\.fieldPath$/, edits: () => [to('metadata.namespace')] },
  { at: /\.envFrom\[\]$/, edits: leftOut },
  { at: /^spec\.selector\.|\.(matchLabels|nodeSelector)\.|^spec\.template\.metadata\.labels\./, edits: other },
  { at: /\.nodeSelectorTerms\[\]\.matchExpressions\[\]\.values\[\]$/, edits: other },
  { at: /\.ingress\[\](\.from\[\])?$/, edits: leftOut },
  { at: /\.httpGet\.path$/, edits: other },
  { at: /\.initContainers\[\]$/, edits: leftOut },
  { at: /\.initContainers$/, edits: reversed },
  { at: /\.securityContext\.(runAsUser|fsGroup)$/, edits: other },
  { at: /\.securityContext\.(privileged)$|\.capabilities\.add\[\]$/, edits: leftOut },
  { at: /\.(hostNetwork|hostPID|dnsPolicy)$|^spec\.(clusterIP|publishNotReadyAddresses)$/, edits: leftOut },
];

/** Fields below which nothing is wired: spreading over nodes and zones counts pods, it connects nothing. */
const unwired = /topologySpreadConstraints|podAntiAffinity/;

interface Change {
  readonly what: string;
  readonly change: (value: unknown) => unknown;
}

/** Every place of an object where something is named, and what it may wrongly say. */
export function objectEdits(object: KubeObject): TreeEdit[] {
  return places(object['spec'], ['spec']).flatMap(({ path, value }) => {
    const plain = shown(path).replaceAll(/\[\d+\]/g, '[]');
    if (unwired.test(plain)) return [];
    return rules
      .filter(({ at }) => at.test(plain))
      .flatMap(({ edits }) => edits(value))
      .map(({ what, change }) => ({ title: `${titleOf(object, path)}: ${what}`, path, change }));
  });
}

function* everything(value: unknown, path: Path): Generator<{ path: Path; value: unknown }> {
  yield { path, value };
  if (typeof value !== 'object' || value === null) return;
  const entries = Array.isArray(value) ? value.map((inner, index) => [index, inner] as const) : Object.entries(value);
  for (const [step, inner] of entries) yield* everything(inner, [...path, step]);
}

function places(value: unknown, path: Path): { path: Path; value: unknown }[] {
  return value === undefined ? [] : [...everything(value, path)];
}

/** The path in words that stay the same when lists change: elements by their name or mount path, the pod's spec left unsaid. */
function titleOf(object: KubeObject, path: Path): string {
  let value: unknown = object;
  let title = '';
  for (const step of path) {
    value = (value as Record<string | number, unknown> | undefined)?.[step];
    if (typeof step !== 'number') {
      title += title === '' ? step : `.${step}`;
      continue;
    }
    const { name, mountPath } = (typeof value === 'object' ? value : {}) as { name?: string; mountPath?: string };
    const label = mountPath ?? name ?? (typeof value === 'string' ? shortened(value) : step);
    title += `[${label}]`;
  }
  return title.replace(/^spec\.(jobTemplate\.spec\.)?template\.spec\./, '').replace(/^spec\./, '');
}

function shortened(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

function other(value: unknown): Change[] {
  if (typeof value === 'number') return [to(value + 1)];
  if (typeof value === 'string') return [to(otherValue(value))];
  return [];
}

function to(value: unknown): Change {
  return { what: 'other value', change: () => value };
}

function leftOut(): Change[] {
  return [{ what: 'left out', change: () => undefined }];
}

function reversed(value: unknown): Change[] {
  if (!Array.isArray(value) || value.length < 2) return [];
  return [{ what: 'in reverse order', change: (list) => (list as unknown[]).toReversed() }];
}

/** One word of a command: missing, or with another host, port or value in it. */
function argument(value: unknown): Change[] {
  const text = String(value);
  const found = partEdits(text).map(ofText);
  const assigned =
    found.length === 0 && /^--?[\w-]+=/.test(text) ? [ofText({ what: 'other value', apply: appended })] : [];
  return [...leftOut(), ...found, ...assigned];
}

function ofText({ what, apply }: Edit): Change {
  return { what, change: (value) => apply(String(value)) };
}
