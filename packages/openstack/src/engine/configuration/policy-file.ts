import { policiesOf } from '@openstack-operator/facts/policies';
import { writeData } from '../../formats/write-data.ts';
import { policyVerdict } from '../../options/policy-rules.ts';
import type { Component } from '../vocabulary/component.ts';
import type { ConfigFiles } from '../vocabulary/config-files.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Service } from '../vocabulary/service.ts';
import type { Problem } from '../vocabulary/step.ts';
import type { OwnedOptions } from './user-config.ts';

/** The sets of a service with the policy of users, and what is to be said of that. */
export interface Policy {
  readonly sets: Readonly<Record<string, ConfigFiles>>;
  /** Options that would have the file read no more. */
  readonly owned: OwnedOptions;
  readonly problems: readonly Problem[];
  readonly degraded: readonly string[];
  readonly remarks: readonly string[];
}

/**
 * Lays `spec.policy` as `policy.yaml`, where oslo.policy looks for it, into the sets of what answers users: the components
 * of the catalogue. Without rules there is no file.
 */
export function withPolicy(
  service: Service,
  context: Context,
  sets: Readonly<Record<string, ConfigFiles>>,
  components: Readonly<Record<string, Component>>,
): Policy {
  const stated = context.spec.policy ?? {};
  const names = Object.keys(stated);
  if (names.length === 0) return { sets, owned: {}, problems: [], degraded: [], remarks: [] };
  const rules = policiesOf(context.release.name, service.facts ?? service.name);
  const allowsUnknown = context.spec.unknownOptions === 'Allow';
  const wasReady = context.surroundings.wasReady();
  const found = { problems: [] as Problem[], degraded: [] as string[], remarks: [] as string[] };
  for (const name of names) {
    const verdict = policyVerdict(rules, stated, name);
    if (verdict === undefined) continue;
    const message = `spec.policy[${JSON.stringify(name)}]: ${verdict.message}`;
    const isRemark = verdict.kind === 'deprecated' || (verdict.kind === 'unknown' && allowsUnknown);
    if (isRemark) found.remarks.push(message);
    else if (wasReady) found.degraded.push(message);
    else found.problems.push({ reason: 'ConfigRefused', message });
  }
  const served = new Set(
    (service.identity?.catalogue ?? []).flatMap(({ component, internal = component }) =>
      [component, internal].map((name) => components[name]?.config ?? 'main'),
    ),
  );
  const file = writeData('yaml', stated);
  const withFile = ([name, files]: [string, ConfigFiles]): [string, ConfigFiles] => {
    const [first] = Object.keys(files);
    if (!served.has(name) || first === undefined) return [name, files];
    return [name, { ...files, [`${first.slice(0, first.lastIndexOf('/'))}/policy.yaml`]: file }];
  };
  const owned = { oslo_policy: { policy_file: 'spec.policy' } };
  return { sets: Object.fromEntries(Object.entries(sets).map(withFile)), owned, ...found };
}
