import { subdomain } from './names.ts';
import { array, bool, choice, nameOf, object, required, rule, string } from './schema.ts';

const objectNamed = (what: string) => string(what, { maxLength: 253, form: subdomain });
const absolute = { maxLength: 512, form: { pattern: '^/', expected: 'an absolute path, such as /srv/images' } };

/** One of these says what a volume holds; the shapes are core/v1's. */
const sources = {
  secret: object('A Secret of the same namespace.', {
    secretName: required(nameOf('Secret', objectNamed('Its name.'))),
  }),
  configMap: object('A ConfigMap of the same namespace.', {
    name: required(nameOf('ConfigMap', objectNamed('Its name.'))),
  }),
  persistentVolumeClaim: object('A claim of the same namespace; for pods on several nodes one of ReadWriteMany.', {
    claimName: required(objectNamed('Its name.')),
  }),
  nfs: object('A directory of a server of NFS. For kinds that use nodes alone (docs/guides/security.md).', {
    server: required(string('Host name or address of the server.', { maxLength: 253 })),
    path: required(string('The directory that the server exports.', absolute)),
  }),
  hostPath: object('A path of the node. For kinds that use nodes alone (docs/guides/security.md).', {
    path: required(string('The path.', absolute)),
    type: choice(
      'What has to be there, as in core/v1.',
      ['DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice'],
      { otherwise: 'anything' },
    ),
  }),
};
const named = Object.keys(sources);

/** Volumes that users add to the pods of a component. */
export const extraVolumes = array(
  'Further volumes, mounted into all containers of its pods.',
  object(
    'One volume, and where it is mounted.',
    {
      name: required(
        string('Its name.', {
          maxLength: 50,
          form: { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', expected: "a name of a-z, 0-9 and '-'" },
        }),
      ),
      mountPath: required(
        string('Where it is mounted.', {
          maxLength: 512,
          form: { pattern: '^/[^:]*$', expected: 'an absolute path without a colon' },
        }),
      ),
      subPath: string(
        'A path within the volume, to mount that alone; what is mounted so does not follow changes: pods roll.',
        {
          maxLength: 512,
          form: { pattern: '^[^/]', expected: 'a relative path' },
        },
      ),
      readOnly: bool('Whether containers may only read it.', { fallback: false }),
      ...sources,
    },
    {
      rules: [
        rule(
          `[${named.map((name) => `has(self.${name})`).join(', ')}].filter(one, one).size() == 1`,
          `expected one of ${named.join(', ')}`,
        ),
      ],
    },
  ),
  { maxItems: 16, keys: ['name'] },
);
