import type { KubeObject } from '@openstack-operator/kube';
import { age } from '../age.ts';
import { numberOf, objectOf, textOf } from '../json.ts';
import type { Cell } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';
import { nameOf } from './cells.ts';

const involvedFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Rows of both groups are alike: stored, they are one kind. */
function eventRow(event: KubeObject, now: number): Cell[] {
  const get = (...names: string[]) =>
    names.map((name) => event[name]).find((value) => value !== undefined && value !== null);
  const involved = objectOf(get('involvedObject', 'regarding'));
  const source = objectOf(get('source', 'deprecatedSource'));
  const series = objectOf(event.series);
  const first = get('firstTimestamp', 'deprecatedFirstTimestamp') ?? event.eventTime;
  const last = series.lastObservedTime ?? get('lastTimestamp', 'deprecatedLastTimestamp') ?? first;
  const component = textOf(source.component) || textOf(get('reportingComponent', 'reportingController'));
  const instance = textOf(source.host) || textOf(event.reportingInstance);
  const kind = textOf(involved.kind).toLowerCase();
  const name = textOf(involved.name);
  const count = numberOf(series.count) || numberOf(get('count', 'deprecatedCount')) || 1;
  return [
    age(last, now),
    textOf(event.type),
    textOf(event.reason),
    name === '' ? kind : `${kind}/${name}`,
    textOf(involved.fieldPath),
    instance === '' ? component : `${component}, ${instance}`,
    textOf(get('message', 'note')).trim(),
    age(first, now),
    count,
    nameOf(event),
  ];
}

/** `v1/Event`. */
export const event = builtinType('v1/Event', {
  selectableFields: [
    ...involvedFields.map((field) => `involvedObject.${field}`),
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  row: eventRow,
});

/** `events.k8s.io/v1/Event`: the same stored objects as `v1/Event` under newer names of fields. */
export const newEvent = builtinType('events.k8s.io/v1/Event', {
  selectableFields: [...involvedFields.map((field) => `regarding.${field}`), 'reason', 'reportingController', 'type'],
  row: eventRow,
});

/** [field of `v1/Event`, field of `events.k8s.io/v1/Event`]. */
const renamed = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;

/** An event in the other group's terms: both groups serve the same stored objects. */
export function convertEvent(object: KubeObject, apiVersion: 'v1' | 'events.k8s.io/v1'): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const result: KubeObject = { ...object, apiVersion };
  for (const [old, current] of renamed) {
    const [from, to] = apiVersion === 'v1' ? [current, old] : [old, current];
    const value = result[from];
    delete result[from];
    if (value !== undefined) result[to] = value;
  }
  return result;
}
