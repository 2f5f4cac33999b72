import {
  type WellKnownName,
  type WellKnownNames,
  wellKnownAnnotations,
  wellKnownFinalizers,
  wellKnownLabels,
} from '@openstack-operator/openstack';
import type { GeneratedFile } from './generated-file.ts';
import { escaped, page, table } from './markdown.ts';

/** The reference of annotations, labels and finalizers. */
export function nameReference(): readonly GeneratedFile[] {
  const names = (table: WellKnownNames, by: WellKnownName['by']) =>
    Object.values(table).filter((name) => name.by === by);
  return [
    page('annotations.md', 'Annotations, labels and finalizers', [
      'Every annotation, label and finalizer that the operator reads or writes. Values are text: quote `"true"` in YAML.',
      [
        '```sh',
        'kubectl -n openstack annotate openstackcontrolplane my-cloud openstack.k8s.io/paused=true # set',
        'kubectl -n openstack annotate openstackcontrolplane my-cloud openstack.k8s.io/paused-     # remove',
        '```',
      ].join('\n'),
      '## Annotations that users set',
      section(names(wellKnownAnnotations, 'users')),
      '## Labels that users set',
      section(names(wellKnownLabels, 'users')),
      '## Annotations that the operator sets',
      'The operator corrects most of them when they are changed.',
      section(names(wellKnownAnnotations, 'operator')),
      '## Labels that the operator sets',
      'Objects also have the labels `app.kubernetes.io/name`, `instance`, `component`, `part-of` and `managed-by`.',
      section(names(wellKnownLabels, 'operator')),
      '## Finalizers',
      table(
        ['Finalizer', 'On', 'Meaning'],
        Object.values(wellKnownFinalizers).map(({ name, on, means }) => [`\`${name}\``, on, escaped(means)]),
      ),
    ]),
  ];
}

function section(names: readonly WellKnownName[]): string {
  return table(
    ['Name', 'On', 'Value', 'Meaning'],
    names.map(({ name, on, value, means }) => [`\`${name}\``, on, escaped(value), escaped(means)]),
  );
}
