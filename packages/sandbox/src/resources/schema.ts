/** A structural schema (apiextensions.k8s.io/v1 JSONSchemaProps, as far as CRDs and built-in kinds need it). */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  /** Strategic merge patch: built-in kinds only. */
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  /**
   * Built-in kinds only, on a field: how Go's encoding/json writes it when it is absent or zero. `drop`: a zero value
   * ('', 0, false, [], {}) is left out; `fill`: an absent one is written as zero; `null`: an absent one is written as
   * null. Without it (a pointer with omitempty) what is there stays.
   */
  readonly 'x-go-zero'?: 'drop' | 'fill' | 'null';
  /** Built-in kinds only: a Go type that reads and writes its JSON itself. */
  readonly 'x-go-type'?: 'quantity' | 'intOrString' | 'time' | 'microTime' | 'raw';
  /** Built-in kinds only: the Go type as decoding errors name it, such as `[]v1.Container`. */
  readonly 'x-go-name'?: string;
  /** Built-in kinds only, on a field: its number in protobuf; `2.5` is field 5 of an embedded struct that is field 2. */
  readonly 'x-protobuf'?: string;
}

/** One CEL rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}
