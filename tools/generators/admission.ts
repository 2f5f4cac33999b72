import { readFileSync } from 'node:fs';
import { OpenStackControlPlane, services } from '@openstack-operator/openstack';
import type { GeneratedFile } from './generated-file.ts';

const path = 'config/admission/use_nodes.yaml';

/** The policy that says who may state what uses nodes: for the kinds whose services do, and for what they are children of. */
export function admission(): GeneratedFile[] {
  const kinds = [OpenStackControlPlane, ...services.flatMap(({ kind, usesNodes }) => (usesNodes ? [kind] : []))];
  const policy = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const resources = kinds.map(({ plural }) => `\n          - ${plural}`).join('');
  return [{ path, content: policy.replace(/(?<=^ {8}resources:).*?(?=\n {2}\S)/ms, resources) }];
}
