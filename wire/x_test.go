package wire
import ("testing";"fmt";"encoding/json";"github.com/gocampus/hark/internal/podgen")
func gen(i int, o podgen.Options, e Encoding) []byte {
 p:=podgen.Pod(i,o); p.ManagedFields=nil
 if e==Protobuf { b,_:=p.Marshal(); return b }
 b,_:=json.Marshal(p); return b
}
func TestX(t *testing.T){
 for _,e:=range []Encoding{Protobuf,JSON}{
 for _,sib:=range []int{50,1}{
  base:=alias(gen(0,podgen.Options{Siblings:sib},e))
  var m matcher
  sum,n,ops:=0,0,0
  for i:=1;i<50;i++{
   raw:=gen(i,podgen.Options{Siblings:sib},e)
   var mm sink; scan(e,raw,&mm)
   kept:=[]place{placeOf(mm.UID,alias(raw),len(raw)),placeOf(mm.ResourceVersion,alias(raw),len(raw))}
   p,moved:=m.patch(raw,base,kept)
   if moved[0].in(string(p))!=mm.UID || moved[1].in(string(p))!=mm.ResourceVersion {t.Fatal("moved")}
   got:=appendPatched(nil,string(p),base,len(raw))
   if string(got)!=string(raw){t.Fatal("differs")}
   sum+=len(p);n++
   if i==1 && sib==50 && e==Protobuf { fmt.Printf("%q\n",p) }
  }
  _=ops
  fmt.Println(e,sib,len(base),sum/n)
 }}
}
func BenchmarkX(b *testing.B){
 for _,e:=range []Encoding{Protobuf,JSON}{
 for _,sib:=range []int{50,1}{
 b.Run(fmt.Sprint(e,sib),func(b *testing.B){
  base:=alias(gen(0,podgen.Options{Siblings:sib},e))
  var raws [][]byte; var kepts [][]place
  for i:=1;i<50;i++{ raw:=gen(i,podgen.Options{Siblings:sib},e)
   var mm sink; scan(e,raw,&mm)
   kept:=[]place{placeOf(mm.UID,alias(raw),len(raw)),placeOf(mm.ResourceVersion,alias(raw),len(raw))}
   raws=append(raws,raw); kepts=append(kepts,kept) }
  var m matcher
  i:=0
  for b.Loop(){ m.indexed=""; m.patch(raws[i%49],base,kepts[i%49]); i++ }
 })
 b.Run(fmt.Sprint("read",e,sib),func(b *testing.B){
  base:=alias(gen(0,podgen.Options{Siblings:sib},e))
  raw:=gen(1,podgen.Options{Siblings:sib},e)
  var m matcher
  p,_:=m.patch(raw,base,nil)
  ps:=string(p)
  buf:=make([]byte,0,10000)
  for b.Loop(){ buf=appendPatched(buf[:0],ps,base,len(raw)) }
 })
 }}
}
