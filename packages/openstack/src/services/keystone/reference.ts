import { reference, secretName } from '../../api/references.ts';
import { type Infer, object, required, string } from '../../api/schema.ts';

/** `spec.keystoneRef` of what registers there. */
export const keystoneRef = reference(
  'The identity service that the service registers with and that validates its tokens.',
  'Keystone',
  object('A Keystone that this operator does not run. It is never bootstrapped.', {
    authURL: required(
      string('Its URL, such as https://keystone.example.com/v3.', {
        maxLength: 2048,
        form: {
          pattern: String.raw`^https?://[A-Za-z0-9.:/_~%@\[\]-]+$`,
          expected: 'a URL such as https://keystone.example.com/v3',
        },
      }),
    ),
    secretName: required(
      secretName(
        'Secret with keys username, password, projectName, userDomainName, projectDomainName of an account that may create users and endpoints.',
      ),
    ),
    caSecretName: secretName(
      'Secret with the certificate (key ca.crt) of the authority that has signed those of Keystone, and of the APIs that its catalogue has for clients inside. If absent, clients go by the authorities of their image.',
    ),
  }),
);

/** Its value. */
export type KeystoneRef = Infer<typeof keystoneRef>;
