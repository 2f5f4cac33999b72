import { readFileSync } from 'node:fs';
import type { KubeObject } from '@openstack-operator/kube';
import { parseAllDocuments } from 'yaml';
import { CommandError } from './command-error.ts';

/**
 * The objects of a YAML or JSON file, or of standard input for `-`.
 * @throws CommandError with file, line and the parser's words
 */
export function readResources(file: string): KubeObject[] {
  const name = file === '-' ? 'standard input' : file;
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new CommandError(`${name} cannot be read: ${(error as Error).message}`, 2);
  }
  const objects = parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new CommandError(`${name}: ${error.message}`);
    const value: unknown = document.toJS();
    return value === null || value === undefined ? [] : [checked(value, name)];
  });
  if (objects.length === 0) throw new CommandError(`${name} has no object`);
  return objects;
}

function checked(value: unknown, file: string): KubeObject {
  const { apiVersion, kind, metadata } = (typeof value === 'object' ? value : {}) as Partial<KubeObject>;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new CommandError(`${file}: a document is not a Kubernetes object: apiVersion or kind is missing`);
  }
  return { ...(value as KubeObject), apiVersion, kind, metadata: metadata ?? {} };
}
