package input

import (
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var timeType = reflect.TypeFor[metav1.Time]()

// walk changes every string, every byte slice and every time within v.
func walk(v reflect.Value, change func(string) string, when func(*metav1.Time)) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(change(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), change, when)
		}
	case reflect.Struct:
		walkStruct(v, change, when)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(change(string(v.Bytes()))))
			return
		}
		for i := range v.Len() {
			walk(v.Index(i), change, when)
		}
	case reflect.Map:
		walkMap(v, change, when)
	}
}

func walkStruct(v reflect.Value, change func(string) string, when func(*metav1.Time)) {
	if v.Type() == timeType {
		if t := v.Addr().Interface().(*metav1.Time); !t.IsZero() {
			when(t)
		}
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			walk(v.Field(i), change, when)
		}
	}
}

// walkMap changes the values, in the order of their keys; keys stay.
func walkMap(v reflect.Value, change func(string) string, when func(*metav1.Time)) {
	names := v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range names {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(name))
		walk(value, change, when)
		v.SetMapIndex(name, value)
	}
}
