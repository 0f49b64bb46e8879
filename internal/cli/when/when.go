// Package when decides by an expression which changes matter.
//
// The language is CEL, the one of ValidatingAdmissionPolicy
// (https://kubernetes.io/docs/reference/using-api/cel/), with two variables:
// object, the new state, is null when the object was deleted; old, the state
// before, is null when the object is new. Optional fields (object.?spec) and the
// string, list, set, math and encoder libraries of cel-go are there.
package when

import (
	"errors"
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
)

// maxCost bounds the work of one evaluation, in CEL's units; it is the limit that
// the API server has for one expression of a policy.
const maxCost = 10_000_000

// Expr is a compiled expression. It is safe for concurrent use.
type Expr struct{ program cel.Program }

// Compile reads an expression. The error says where it is wrong.
func Compile(text string) (*Expr, error) {
	env, err := cel.NewEnv(
		cel.Variable("object", cel.DynType), cel.Variable("old", cel.DynType),
		cel.OptionalTypes(), cel.CrossTypeNumericComparisons(true),
		ext.Strings(), ext.Lists(), ext.Sets(), ext.Math(), ext.Encoders(),
	)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the expression is of type %s; want bool", t)
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, err
	}
	return &Expr{program}, nil
}

// Match evaluates the expression; nil stands for null. The error is of the
// expression: a field that is not there (has() asks), values that do not go
// together, too much work.
func (e *Expr) Match(object, old map[string]any) (bool, error) {
	value, _, err := e.program.Eval(map[string]any{"object": orNull(object), "old": orNull(old)})
	if err != nil {
		return false, err
	}
	matched, ok := value.(types.Bool)
	if !ok {
		return false, errors.New("the expression gives a " + value.Type().TypeName() + "; want bool")
	}
	return bool(matched), nil
}

// orNull is an object or CEL's null, which a nil map is not.
func orNull(object map[string]any) any {
	if object == nil {
		return types.NullValue
	}
	return object
}
