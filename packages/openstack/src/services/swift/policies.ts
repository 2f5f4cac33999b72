import { growingList } from '../../api/growing-list.ts';
import { bool, int, object, required, rule, string } from '../../api/schema.ts';
import type { DataMap } from '../../formats/data.ts';

/** The policy that every Swift has. */
export const firstPolicy = 'Policy-0';

/** Copies of what nobody says a number of. */
export const replicasByDefault = 3;

const erasureCoding = object(
  'Keeps fragments instead of copies, of which dataFragments are enough to read an object: less space, more work. Either this or replicaCount.',
  {
    dataFragments: required(int('Fragments that hold an object.', { minimum: 2, maximum: 20 })),
    parityFragments: required(int('Further fragments: so many devices may be lost.', { minimum: 1, maximum: 10 })),
  },
);

/** In CEL: devices that an object of a policy lies on. */
export const widthOf = (policy: string) =>
  `(has(${policy}.erasureCoding) ? ${policy}.erasureCoding.dataFragments + ${policy}.erasureCoding.parityFragments : has(${policy}.replicaCount) ? ${policy}.replicaCount : ${replicasByDefault})`;

const dataOf = (policy: string) => `(has(${policy}.erasureCoding) ? ${policy}.erasureCoding.dataFragments : 0)`;

const stays =
  'a policy can neither be taken away nor get another name, another number of copies or other fragments: its objects would not be found; deprecate it, and add another one';

/** Further storage policies. */
export const storagePolicies = growingList(
  `Further storage policies, which users choose by name when they make a container, beside ${firstPolicy}. None can be taken away: deprecate it.`,
  object(
    'A storage policy: partitionPower and minPartHours are those of storagePolicy.',
    {
      index: required(int('Its number: what lies on devices says it.', { minimum: 1, maximum: 99 })),
      name: required(
        string('What users choose it by.', {
          maxLength: 63,
          form: {
            pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
            expected: 'lower-case letters, digits and hyphens, such as ec-4-2',
          },
        }),
      ),
      replicaCount: int('Copies of each object, each on another device.', {
        minimum: 1,
        maximum: 9,
        fallback: replicasByDefault,
      }),
      erasureCoding: erasureCoding,
      deprecated: bool('No container is made with it any more; those that exist stay.', { fallback: false }),
    },
    {
      rules: [
        rule(
          '!(has(self.replicaCount) && has(self.erasureCoding))',
          'expected replicaCount or erasureCoding, not both',
        ),
        rule("self.name != 'policy-0'", 'every Swift has a policy of this name; choose another name', '.name'),
      ],
    },
  ),
  {
    maxItems: 8,
    key: 'index',
    fixed: [(one) => `${one}.name`, widthOf, dataOf],
    message: stays,
    rules: [
      rule(
        'self.all(one, self.exists_one(other, other.name == one.name))',
        'expected a name for each that no other has',
      ),
    ],
  },
);

/** In CEL, below the spec: whether all policies have as many devices as they need, of `devices`. */
export const policiesFit = (devices: string): string =>
  `!has(self.storagePolicies) || self.storagePolicies.all(one, ${widthOf('one')} <= ${devices})`;

/** In CEL, below the spec: whether new containers may get the policy that they are to get. */
export const defaultIsOffered = `!has(self.defaultStoragePolicy) || self.defaultStoragePolicy == '${firstPolicy}' || has(self.storagePolicies) && self.storagePolicies.exists(one, one.name == self.defaultStoragePolicy && !(has(one.deprecated) && one.deprecated))`;

interface Policy {
  readonly index: number;
  readonly name: string;
  readonly replicaCount?: number;
  readonly erasureCoding?: { readonly dataFragments: number; readonly parityFragments: number };
  readonly deprecated?: boolean;
}

/** What a spec says of policies. */
export interface Policies {
  readonly storagePolicies?: readonly Policy[];
  readonly defaultStoragePolicy?: string;
}

/** Whether a policy keeps fragments. */
export const hasFragments = ({ storagePolicies = [] }: Policies): boolean =>
  storagePolicies.some(({ erasureCoding }) => erasureCoding !== undefined);

/** A ring of a policy's own. */
interface PolicyRing {
  readonly name: string;
  /** How many devices an object lies on. */
  readonly replicas: number;
  /** What can never change, as `field=value`, separated by blanks; the index is the first. */
  readonly made: string;
}

/** Rings of the policies' own. */
export function policyRings({ storagePolicies = [] }: Policies): PolicyRing[] {
  return storagePolicies.map(({ index, name, replicaCount = replicasByDefault, erasureCoding }) => {
    const kept = Object.entries(erasureCoding ?? { replicaCount });
    const fields = kept.map(([field, value]) => `${erasureCoding ? 'erasureCoding.' : ''}${field}=${value}`);
    return {
      name: `object-${index}`,
      replicas: kept.reduce((sum, [, value]) => sum + value, 0),
      made: [`index=${index}`, `name=${name}`, ...fields.sort()].join(' '),
    };
  });
}

/** Sections of swift.conf; none where Swift has the one that it makes by itself. */
export function policySections({ storagePolicies = [], defaultStoragePolicy = firstPolicy }: Policies): DataMap {
  if (storagePolicies.length === 0) return {};
  const all: readonly Policy[] = [{ index: 0, name: firstPolicy }, ...storagePolicies];
  const sections = all.map(({ index, name, erasureCoding: fragments, deprecated = false }) => [
    `storage-policy:${index}`,
    {
      name,
      default: name === defaultStoragePolicy,
      deprecated,
      ...(fragments === undefined
        ? { policy_type: 'replication' }
        : {
            policy_type: 'erasure_coding',
            // The one that needs no library beyond those of every image of Swift.
            ec_type: 'liberasurecode_rs_vand',
            ec_num_data_fragments: fragments.dataFragments,
            ec_num_parity_fragments: fragments.parityFragments,
          }),
    },
  ]);
  return Object.fromEntries(sections) as DataMap;
}
