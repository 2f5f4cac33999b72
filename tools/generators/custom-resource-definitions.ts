import { crd, group, kinds } from '@openstack-operator/openstack';
import { Document, isPair, isScalar, isSeq, visit } from 'yaml';
import { type GeneratedFile, generatedNotice } from './generated-file.ts';

const folder = 'config/crd';

/** The CRDs of all kinds, and the kustomization that lists them. */
export function customResourceDefinitions(): readonly GeneratedFile[] {
  const crds = kinds.map((kind) => ({ file: `bases/${group}_${kind.plural}.yaml`, object: crd(kind) }));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: crds.map(({ file }) => file).sort(),
  };
  return [
    ...crds.map(({ file, object }) => ({ path: `${folder}/${file}`, content: yaml(object) })),
    { path: `${folder}/kustomization.yaml`, content: yaml(kustomization) },
  ];
}

/**
 * YAML in which a schema without children takes one line: the CRD of a whole cloud stays below 256 KiB, and a change
 * of one field is a change of one line.
 */
function yaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  const isShort = (node: unknown) => isScalar(node) || (isSeq(node) && node.items.every(isScalar));
  visit(document, {
    Scalar(_key, scalar) {
      // Plain in a one-line map, a '?' is legal YAML 1.2 that other parsers (go-yaml, PyYAML) refuse.
      if (typeof scalar.value === 'string' && scalar.value.includes('?')) scalar.type = 'QUOTE_DOUBLE';
    },
    Seq(_key, seq, path) {
      if (seq.items.every(isScalar) && path.some(isInSchema)) seq.flow = true;
    },
    Map(_key, map, path) {
      if (path.some(isInSchema) && map.items.every(({ value }) => isShort(value))) map.flow = true;
    },
  });
  return `# ${generatedNotice}\n${document.toString({ lineWidth: 0, flowCollectionPadding: false, indentSeq: false })}`;
}

function isInSchema(node: unknown): boolean {
  return isPair(node) && isScalar(node.key) && node.key.value === 'openAPIV3Schema';
}
