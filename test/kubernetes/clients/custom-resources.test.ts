import { expect } from 'vitest';
import { table, test } from './cluster.ts';

const definition = (name: string) => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${name}s.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: ${name}s, singular: ${name}, kind: ${name[0]?.toUpperCase()}${name.slice(1)}, shortNames: [${name.slice(0, 2)}], categories: [all] }
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale: { specReplicasPath: .spec.size, statusReplicasPath: .status.size }
      additionalPrinterColumns:
        - { name: Size, type: integer, jsonPath: .spec.size }
        - { name: Color, type: string, jsonPath: .spec.color, priority: 1 }
      schema:
        openAPIV3Schema:
          type: object
          description: A thing of a size.
          properties:
            spec:
              type: object
              properties:
                size: { type: integer, minimum: 1, default: 3, description: How large it is. }
                color: { type: string, enum: [red, blue] }
              x-kubernetes-validations:
                - { rule: '!has(self.color) || self.color != "red" || self.size < 5', message: red ones are small }
            status: { type: object, properties: { size: { type: integer } } }
`;
const object = (kind: string, spec: string) =>
  `apiVersion: example.com/v1\nkind: ${kind}\nmetadata: { name: one }\nspec: ${spec}\n`;

test('a new kind is there at once: columns, short name, explain, scale', async ({ kubectl }) => {
  await kubectl.with({ stdin: definition('widget') })`apply -f -`;
  await kubectl`wait --for=condition=Established crd/widgets.example.com --timeout=20s`;
  await kubectl.with({ stdin: object('Widget', '{ color: blue }') })`apply -f -`;
  expect(table(await kubectl`get wi`)).toEqual(['NAME | SIZE', 'one | 3']);
  expect(table(await kubectl`get widgets -o wide`)).toEqual(['NAME | SIZE | COLOR', 'one | 3 | blue']);
  expect(await kubectl`get all`).toContain('widget.example.com/one');
  const explained = await kubectl`explain widget.spec`;
  expect(explained).toContain('How large it is.');
  expect(explained).toMatch(/color\t<string>\n {2}enum: (red, blue|blue, red)/);
  await kubectl`scale widget one --replicas=7`;
  expect(await kubectl`get widget one -o jsonpath={.spec.size}`).toBe('7');
  await kubectl`patch widget one --subresource=status --type=merge -p ${'{"status":{"size":7},"spec":{"size":1}}'}`;
  expect(await kubectl`get widget one -o jsonpath={.spec.size}/{.status.size}`).toBe('7/7');
  await kubectl`delete crd widgets.example.com --timeout=20s`;
  expect(await kubectl.fails`get widgets`).toMatch(
    /doesn't have a resource type|could not find the requested resource/,
  );
});

test('wrong values are refused with the field and the reason', async ({ kubectl }) => {
  await kubectl.with({ stdin: definition('gadget') })`apply -f -`;
  await kubectl`wait --for=condition=Established crd/gadgets.example.com --timeout=20s`;
  const refusal = (spec: string) => kubectl.with({ stdin: object('Gadget', spec) }).fails`apply -f -`;
  expect(await refusal('{ size: 0 }')).toContain(
    'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
  );
  expect(await refusal('{ size: many }')).toContain(
    'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
  );
  expect(await refusal('{ color: green }')).toContain(
    'spec.color: Unsupported value: "green": supported values: "red", "blue"',
  );
  expect(await refusal('{ color: red, size: 9 }')).toContain('red ones are small');
  expect(await refusal('{ colour: red }')).toContain('strict decoding error: unknown field "spec.colour"');
  expect(await kubectl.with({ stdin: object('Gadget', '{ colour: red }') })`apply --validate=false -f -`).toBe(
    'gadget.example.com/one created\n',
  );
  expect(await kubectl`get gadget one -o jsonpath={.spec}`).toBe('{"size":3}');
  expect(await kubectl.fails`patch gadget one -p ${'{"spec":{"size":4}}'}`).toContain(
    'application/strategic-merge-patch+json is not supported by example.com/v1, Kind=Gadget',
  );
  expect(await kubectl.fails`get --raw /apis/example.com/v1/nothing`).toBe(
    'Error from server (NotFound): the server could not find the requested resource',
  );
  await kubectl`delete crd gadgets.example.com`;
});
